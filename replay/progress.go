package replay

// progressEvery is how many turns pass between two reports.
const progressEvery = 512

// progress reports how many turns were dealt with.
type progress struct {
	report      func(done, total int64)
	done, total int64
}

func newProgress(report func(done, total int64), total int64) *progress {
	if report == nil {
		report = func(int64, int64) {}
	}
	return &progress{report: report, total: total}
}

func (p *progress) step() {
	if p.done++; p.done%progressEvery == 0 && p.done < p.total {
		p.report(p.done, p.total)
	}
}

// finish reports the end, once.
func (p *progress) finish() { p.report(p.total, p.total) }
