package postgres_test

import (
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/internal/pgtest/pgstore"
	"github.com/turnstone-dev/turnstone/store/postgres"
)

func TestCheckFindsWhatIsBroken(t *testing.T) {
	alone(t)
	for _, test := range []struct {
		name, damage, want string
	}{
		{"nothing", `SELECT`, ""},
		{"index", `UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'turns_by_id'::regclass`, "index turns_by_id is not valid; run REINDEX INDEX turns_by_id"},
		{"table", `DROP TABLE leases`, "table leases cannot be read: "},
		{"nothing, looked at closely", `CREATE EXTENSION amcheck`, ""},
		{"row that an index lacks", `CREATE EXTENSION amcheck;
			UPDATE pg_index SET indisready = false WHERE indexrelid = 'turns_utterances'::regclass;
			INSERT INTO turns (tenant, segment, seq, turn_id, role, form, content, created_at) VALUES ('default', 1, 2, 'x', 'user', 'text', '{"text":""}', 0);
			UPDATE pg_index SET indisready = true WHERE indexrelid = 'turns_utterances'::regclass`,
			"index turns_utterances does not fit its table: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			address := pgstore.URL(t)
			s := open(t, address, postgres.Config{})
			mustAppend(t, s, create(t, s, "whole"), said("hello"))
			execute(t, connect(t, address), test.damage, simple)
			problems, err := s.Check(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if test.want == "" && len(problems) == 0 {
				return
			}
			if len(problems) != 1 || test.want == "" || !strings.HasPrefix(problems[0], test.want) {
				t.Errorf("problems %q, want %q", problems, test.want)
			}
		})
	}
}
