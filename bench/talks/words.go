package talks

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

var (
	names   = strings.Fields("Ada Ben Carla Dmitri Elif Farid Greta Hana Ivo Jun Kofi Lena Mika Nadia Oskar Priya Quentin Rosa Samir Tove Uma Viktor Wanda Yusuf Zora")
	things  = strings.Fields("invoice kettle ledger bicycle garden passport recipe server cupboard violin package contract ladder window novel battery carpet telescope wallet bakery harbour parser queue cache index")
	kinds   = strings.Fields("blue second old borrowed broken quiet expensive northern small wooden late shared empty heavy narrow patient yellow double spare public")
	actions = strings.Fields("moved repaired sold painted lost returned measured photographed postponed ordered cancelled shipped opened cleaned promised counted described found hid replaced")
	places  = strings.Fields("Lisbon Tartu Oslo Quito Nairobi Hobart Ghent Kyoto Bergen Turin Accra Lima Split Galway Porto Bremen")
	folders = strings.Fields("store billing parser gateway report mailer search login export cart")
	files   = strings.Fields("index tx lines total retry decode limit window batch route session")
	whys    = []string{
		"because the shop was closed", "since nobody had the key", "before the rain came", "after a long call", "although it was late",
		"as we had agreed", "in spite of the price", "while the others waited", "without telling anybody", "so that it is done by then",
	}
)

// words draws words, always the same ones for the same source.
type words struct{ *rand.Rand }

func (w *words) pick(from []string) string { return from[w.IntN(len(from))] }

func (w *words) date() string { return fmt.Sprintf("2025-%02d-%02d", 1+w.IntN(12), 1+w.IntN(28)) }

func (w *words) order() string { return fmt.Sprintf("#W%07d", w.IntN(10_000_000)) }

func (w *words) path() string { return w.pick(folders) + "/" + w.pick(files) + ".go" }

// sentence is one thing that somebody says.
func (w *words) sentence() string {
	thing := w.pick(kinds) + " " + w.pick(things)
	switch w.IntN(6) {
	case 0:
		return fmt.Sprintf("%s %s the %s in %s %s.", w.pick(names), w.pick(actions), thing, w.pick(places), w.pick(whys))
	case 1:
		return fmt.Sprintf("I think the %s costs about %d euros, and the %s %d.", thing, 5+w.IntN(900), w.pick(things), 5+w.IntN(900))
	case 2:
		return fmt.Sprintf("Do you remember when %s %s that %s near the %s?", w.pick(names), w.pick(actions), thing, w.pick(things))
	case 3:
		return fmt.Sprintf("We meet %s on %s at %d:%02d, and bring the %s.", w.pick(names), w.date(), 7+w.IntN(13), 5*w.IntN(12), thing)
	case 4:
		return fmt.Sprintf("That sounds good to me, but the %s is still %s, and the %s too.", w.pick(things), w.pick(kinds), thing)
	}
	return fmt.Sprintf("My %s has %s it twice %s; %s knows why.", w.pick(things), w.pick(actions), w.pick(whys), w.pick(names))
}

// sentences are some sentences, from least to most.
func (w *words) sentences(least, most int) string {
	all := make([]string, least+w.IntN(most-least+1))
	for i := range all {
		all[i] = w.sentence()
	}
	return strings.Join(all, " ")
}

// source is a file of a program.
func (w *words) source(path string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// %s\npackage %s\n\n", path, w.pick(folders))
	for range 1 + w.IntN(12) {
		name, of := w.pick(files), w.pick(things)
		fmt.Fprintf(&b, "// %s%d says how many of %s there are.\nfunc %s%d(%s []int) int {\n\ttotal := %d\n\tfor _, n := range %s {\n\t\ttotal += n * %d\n\t}\n\treturn total\n}\n\n",
			name, w.IntN(100), of, name, w.IntN(100), of, w.IntN(1000), of, w.IntN(50))
	}
	return b.String()
}

// log is what a run of tests printed.
func (w *words) log() string {
	var b strings.Builder
	for range 4 + w.IntN(30) {
		fmt.Fprintf(&b, "ok  \tshop/%s\t%d.%03ds\n", w.pick(folders), w.IntN(9), w.IntN(1000))
	}
	if w.IntN(2) == 0 {
		path := w.path()
		fmt.Fprintf(&b, "--- FAIL: Test%s (0.%02ds)\n    %s:%d: got %d, want %d\nFAIL\tshop/%s\n", w.pick(things), w.IntN(100), path, 1+w.IntN(400), w.IntN(1000), w.IntN(1000), w.pick(folders))
	}
	return b.String()
}

// record is an order as a database has it.
func (w *words) record(order string) string {
	var items []string
	for range 1 + w.IntN(9) {
		items = append(items, fmt.Sprintf(`{"sku":"%d","name":"%s %s","quantity":%d,"price":%d.%02d}`, 1_000_000_000+w.IntN(1_000_000_000), w.pick(kinds), w.pick(things), 1+w.IntN(4), 5+w.IntN(300), w.IntN(100)))
	}
	return fmt.Sprintf(`{"order_id":"%s","status":"%s","customer":"%s","city":"%s","placed":"%s","items":[%s]}`,
		order, w.pick(actions), strings.ToLower(w.pick(names))+fmt.Sprintf("_%04d", w.IntN(10_000)), w.pick(places), w.date(), strings.Join(items, ","))
}

// found is what a search returned.
func (w *words) found(word string) string {
	var b strings.Builder
	for range 1 + w.IntN(30) {
		fmt.Fprintf(&b, "%s:%d: the %s %s %s\n", w.path(), 1+w.IntN(500), w.pick(kinds), word, w.pick(whys))
	}
	return b.String()
}
