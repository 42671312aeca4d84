package words_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/internal/words"
)

var samples = map[string]string{
	"english":    "We decided to keep the API stable: clients don't have to be upgraded, and every migration is tested twice. ",
	"code":       "func (s *Store) openSession(ctx context.Context, id string) error { return s.db.QueryRow(ctx, `SELECT * FROM sessions`) }\n",
	"german":     "Für die Größe der Schlüssel gilt, dass spätere Änderungen über Übergänge möglich bleiben müssen. ",
	"french":     "Où étaient les clés de l’école? À côté du café, près de la bibliothèque municipale. ",
	"decomposed": "Ou\u0300 e\u0301taient les cle\u0301s de l’e\u0301cole? A\u0300 co\u0302te\u0301 du cafe\u0301. ",
	"russian":    "Мы решили сохранить интерфейс и проверять каждый переход дважды, чтобы ничего не потерять. ",
	"chinese":    "我们决定保持接口稳定,客户端不需要升级,每次迁移都要测试两遍。",
	"korean":     "우리는 인터페이스를 안정적으로 유지하고 모든 마이그레이션을 두 번 시험하기로 했다. ",
	"thai":       "เราตัดสินใจรักษาอินเทอร์เฟซให้เสถียรและทดสอบการย้ายข้อมูลทุกครั้งสองรอบ ",
}

func BenchmarkTerms(b *testing.B) {
	run := func(name, text string) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				words.Terms(text)
			}
		})
	}
	for name, sample := range samples {
		run(name, strings.Repeat(sample, 1+2000/len(sample)))
	}
	run("english4MiB", strings.Repeat(samples["english"], 4<<20/len(samples["english"])))
	run("unknown", unknownWords(1<<20))
}

func BenchmarkSet(b *testing.B) {
	for name, size := range map[string]int{"400B": 400, "4MiB": 4 << 20} {
		text := strings.Repeat(samples["english"], 1+size/len(samples["english"]))[:size]
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				words.Set(text)
			}
		})
	}
}

// unknownWords are letters no stem was ever looked up for: the worst case.
func unknownWords(size int) string {
	random := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, size)
	for i := range text {
		text[i] = byte('a' + random.IntN(26))
		if i%7 == 6 {
			text[i] = ' '
		}
	}
	return string(text)
}
