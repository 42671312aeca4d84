package postgres

import "context"

// end notes in prompt_ends where a row of epochs or prompts stands. Those before it that stand there or
// later are not the last one anywhere any more; nor is it, if one after it stands there or before.
func (r promptRows) end(ctx context.Context, what, tenant string, segment int64, kind string, end, number int64) error {
	err := r.write(ctx, what, `DELETE FROM prompt_ends WHERE tenant = $1 AND segment = $2 AND kind = $3 AND end_seq >= $4 AND number < $5`,
		tenant, segment, kind, end, number)
	if err != nil {
		return err
	}
	return r.write(ctx, what, `INSERT INTO prompt_ends AS e (tenant, segment, kind, end_seq, number) SELECT $1, $2, $3, $4, $5
		WHERE NOT coalesce((SELECT number > $5 FROM prompt_ends WHERE tenant = $1 AND segment = $2 AND kind = $3 AND end_seq <= $4
			ORDER BY end_seq DESC LIMIT 1), false)
		ON CONFLICT (tenant, segment, kind, end_seq) DO UPDATE SET number = greatest(e.number, excluded.number)`,
		tenant, segment, kind, end, number)
}

// loadEnds makes prompt_ends anew.
const loadEnds = `INSERT INTO prompt_ends (tenant, segment, kind, end_seq, number)
	SELECT tenant, segment, kind, end_seq, number FROM (SELECT *, min(end_seq) OVER
		(PARTITION BY tenant, segment, kind ORDER BY number DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS later
		FROM (SELECT tenant, segment, 'epochs' AS kind, after_seq AS end_seq, number FROM epochs
			UNION ALL SELECT tenant, segment, 'prompts', end_seq, number FROM prompts) AS every) AS ending
	WHERE later IS NULL OR end_seq < later`
