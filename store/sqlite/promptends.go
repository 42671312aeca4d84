package sqlite

// end notes in prompt_ends where a row of epochs or prompts stands. Those before it that stand there or
// later are not the last one anywhere any more; nor is it, if it or one after it stands there or before.
func (r promptRows) end(tenant string, segment int64, kind string, end, number int64) error {
	err := r.c.Prepare(`DELETE FROM prompt_ends WHERE tenant = ? AND segment = ? AND kind = ? AND end_seq >= ? AND number < ?`).
		Text(tenant).Int(segment).Text(kind).Int(end).Int(number).Run()
	if err != nil {
		return r.fail(err)
	}
	return r.fail(r.c.Prepare(`INSERT INTO prompt_ends (tenant, segment, kind, end_seq, number) SELECT ?1, ?2, ?3, ?4, ?5
		WHERE NOT coalesce((SELECT number >= ?5 FROM prompt_ends WHERE tenant = ?1 AND segment = ?2 AND kind = ?3 AND end_seq <= ?4
			ORDER BY end_seq DESC LIMIT 1), 0)`).
		Text(tenant).Int(segment).Text(kind).Int(end).Int(number).Run())
}

// endPrompts fills prompt_ends from the epochs and prompts.
const endPrompts = `INSERT OR REPLACE INTO prompt_ends (tenant, segment, kind, end_seq, number)
	SELECT tenant, segment, kind, end_seq, number FROM (SELECT *, min(end_seq) OVER
		(PARTITION BY tenant, segment, kind ORDER BY number DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS later
		FROM (SELECT tenant, segment, 'epochs' AS kind, after_seq AS end_seq, number FROM epochs
			UNION ALL SELECT tenant, segment, 'prompts', end_seq, number FROM prompts))
	WHERE later IS NULL OR end_seq < later`
