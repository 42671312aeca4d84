package simulate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/prompt"
)

// tell is a story of n messages of ten words each, with what the system opens with and, at each fifth, a call
// with its result.
func tell(n int) (*story, *counted) {
	count := &counted{count: words, known: map[string]int{}}
	text := func(i int) []prompt.Part {
		return []prompt.Part{{Text: fmt.Sprintf("number %d %s", i, strings.Repeat("word ", 7))}}
	}
	messages := []prompt.Message{{Role: prompt.System, Seqs: []int64{1}, Parts: text(1)}}
	for i := 2; i <= n; i++ {
		m := prompt.Message{Role: prompt.User, Seqs: []int64{int64(i)}, Parts: text(i)}
		if i%5 == 0 {
			m.Role = prompt.Tool
		}
		messages = append(messages, m)
	}
	return newStory(messages, count), count
}

func TestBaselines(t *testing.T) {
	const room, size, end = 100, 10, 40
	story, count := tell(end)
	all := newBaselines(story, room, count)
	if len(all) != len(Baselines()) {
		t.Fatalf("%d ways, %d names", len(all), len(Baselines()))
	}
	sizes := map[string][]int{}
	for i, name := range Baselines() {
		for seq := int64(1); seq <= end; seq++ {
			sizes[name] = append(sizes[name], all[i].call(seq))
			if head := all[i].pieces(all[i].view)[0].text; !strings.Contains(head, "number 1 ") {
				t.Fatalf("%s: prompt %d begins %q", name, seq, head)
			}
			pieces := all[i].pieces(all[i].view)
			for k, p := range pieces {
				if strings.HasPrefix(p.text, "[tool") && !strings.HasPrefix(pieces[k-1].text, "[user") {
					t.Errorf("%s: prompt %d has a result without its call", name, seq)
				}
			}
		}
	}
	// A call stands in a prompt once its result is there.
	if full := sizes[FullHistory]; full[0] != size || full[end-1] != end*size {
		t.Errorf("full history has %v", full)
	}
	if u := all[0].used; u.Breaks != 0 || u.Reused != u.Tokens-end*size {
		t.Errorf("full history: %+v", u)
	}
	if last := sizes[DropOldest][end-1]; last <= room-2*size || all[1].used.Largest > room {
		t.Errorf("drop oldest ends with %d, largest %d", last, all[1].used.Largest)
	}
	if u := all[1].used; u.Breaks < 20 {
		t.Errorf("drop oldest breaks %d times", u.Breaks)
	}
	if u := all[2].used; u.Breaks < 4 || u.Breaks > 8 || u.Largest > room {
		t.Errorf("drop half: %+v", u)
	}
	if u := all[3].used; u.Breaks < 4 || u.Largest > room*fullShare {
		t.Errorf("rolling summary: %+v", u)
	}
	if note := all[3].summary.text; !strings.HasPrefix(note, "[note]\n") || words(note) > room*rollingShare+1 || words(note) < 3 {
		t.Errorf("the rolling summary is %q", note)
	}
	if all[3].used.Billed() >= all[1].used.Billed() {
		t.Error("a rolling summary costs more than dropping the oldest at each call")
	}
}

// What does not fit at all is shown nevertheless: a call must end with what was said last.
func TestBaselinesShowTheLast(t *testing.T) {
	story, count := tell(4)
	for i, b := range newBaselines(story, 5, count) {
		b.call(4)
		if b.used.Reused != 0 || b.used.Breaks != 0 || b.used.Calls != 1 {
			t.Errorf("%s: the first call took %+v", Baselines()[i], b.used)
		}
		if pieces := b.pieces(b.view); !strings.Contains(pieces[len(pieces)-1].text, "number 4 ") {
			t.Errorf("%s ends with %v", Baselines()[i], pieces)
		}
	}
}
