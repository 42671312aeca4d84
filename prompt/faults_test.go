package prompt_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/turnstone-dev/turnstone/prompt"
	"github.com/turnstone-dev/turnstone/store"
	"github.com/turnstone-dev/turnstone/turn"
)

var errFault = errors.New("the disk is on fire")

// failing fails the call of a method after so many that go well.
func failing(method string, after int) func(string) error {
	return func(m string) error {
		if m != method {
			return nil
		}
		if after--; after < 0 {
			return errFault
		}
		return nil
	}
}

// burn runs f with every call that it makes of the store failing in turn, and at last with none.
func (w *world) burn(f func() error) {
	w.Helper()
	for n := range 1000 {
		w.faults.fail = nil
		calls := 0
		var methods []string
		w.faults.fail = func(method string) error {
			methods = append(methods, method)
			if calls++; calls > n {
				return errFault
			}
			return nil
		}
		err := f()
		if calls <= n {
			w.faults.fail = nil
			if err != nil {
				w.Errorf("without a fault: %v", err)
			}
			if n == 0 {
				w.Error("the store was never asked")
			}
			return
		}
		if !errors.Is(err, errFault) {
			w.Errorf("%s failed: %v (after %v)", methods[n], err, methods[:n])
		}
	}
	w.Error("there is no end to it")
}

// troubled is a world whose next prompt needs everything that a store keeps.
func troubled(t *testing.T) *world {
	w := newWorld(t, 2048)
	w.begin(fullSettings())
	w.append(call("a", "b"), part("m", "one"), part("m", "two"), result("a", "x"), result("b", "x"), user("go"), call("slow"))
	w.compile()
	w.moveOn()
	w.pin(3)
	w.pin(4)
	w.append(result("slow", "done"))
	w.request.Settings = nil
	return w
}

// aged is a world whose next prompt makes a pass in which checkpoints age, over turns that end a unit which began
// long before.
func aged(t *testing.T) *world {
	w := summarised(newWorld(t, 8192))
	w.append(user(words(1500)), call("slow"), agent("A key: 7f3a."))
	w.pin(3)
	w.lives(2, nil)
	w.append(result("slow", "done"), user("on"))
	w.append(work(1000, 70)...)
	return w
}

func TestAStoreThatFailsIsAnError(t *testing.T) {
	t.Run("compile", func(t *testing.T) {
		w := troubled(t)
		w.burn(func() error {
			_, err := w.try(nil)
			return err
		})
		if p := w.compile(); p.Opened != prompt.ReasonPin {
			t.Errorf("opened %q", p.Opened)
		}
	})
	t.Run("compile from far behind", func(t *testing.T) {
		w := troubled(t)
		w.append(repeat(1300, func(int) []turn.Draft { return []turn.Draft{agent("x")} })...)
		w.burn(func() error {
			_, err := w.try(nil)
			return err
		})
	})
	t.Run("rebuild", func(t *testing.T) {
		w := troubled(t)
		w.compile()
		w.burn(func() error {
			_, err := w.rebuild(w.made[len(w.made)-1].call)
			return err
		})
	})
	t.Run("a pass", func(t *testing.T) {
		w := aged(t)
		w.burn(func() error {
			_, err := w.try(nil)
			return err
		})
		if c, err := w.try(nil); err != nil || len(c.Passes) != 1 || len(c.Passes[0].Made) != 2 {
			t.Errorf("%+v, %v", c.Passes, err)
		}
	})
	t.Run("plan", func(t *testing.T) {
		w := aged(t)
		w.request.Force = true
		w.burn(func() error {
			_, err := w.tryPlan()
			return err
		})
	})
	t.Run("undo", func(t *testing.T) {
		w := aged(t)
		e := w.epoch()
		w.request.Back = &prompt.Back{Epoch: e, Show: turn.Range{From: e.From - 4, To: e.From - 1}, Reason: prompt.ReasonRestore}
		w.burn(func() error {
			_, err := w.try(nil)
			return err
		})
	})
	t.Run("damage", func(t *testing.T) {
		w := aged(t)
		w.damage(w.epoch().Checkpoints[1:], damages["missing"])
		w.burn(func() error {
			_, err := w.try(nil)
			return err
		})
	})
	t.Run("a larger window", func(t *testing.T) {
		w := aged(t)
		w.resize(131_072)
		w.burn(func() error {
			_, err := w.try(nil)
			return err
		})
	})
	t.Run("rebuild with checkpoints", func(t *testing.T) {
		w := aged(t)
		w.burn(func() error {
			_, err := w.rebuild(w.made[len(w.made)-1].call)
			return err
		})
	})
	t.Run("measure", func(t *testing.T) {
		w := aged(t)
		w.burn(func() error {
			_, _, err := w.tryMeasure()
			return err
		})
	})
	t.Run("open", func(t *testing.T) {
		w := newWorld(t, 2048)
		w.begin(fullSettings())
		c, err := w.try(nil)
		if err != nil {
			t.Fatal(err)
		}
		w.burn(func() error {
			return w.db.Update(t.Context(), func(tx store.Tx) error {
				info, err := tx.Log().Session(t.Context(), w.key)
				if err != nil {
					return err
				}
				rows := w.faults.prompts(tx.Prompt())
				if err := c.Settings.Put(t.Context(), rows, w.key.Tenant, tx.Now()); err != nil {
					return err
				}
				return prompt.Open(t.Context(), rows, info, *c.Opened, tx.Now())
			})
		})
	})
	t.Run("fork", func(t *testing.T) {
		w := newWorld(t, 2048)
		at := w.append(user("one"))
		w.compile()
		w.begin(prompt.Settings{System: "Otherwise."})
		w.compile()
		w.pin(at)
		w.burn(func() error {
			err := w.db.Update(t.Context(), func(tx store.Tx) error {
				parent, err := tx.Log().Session(t.Context(), w.key)
				if err != nil {
					return err
				}
				err = prompt.Fork(t.Context(), w.faults.prompts(tx.Prompt()), w.key.Tenant, parent.Lineage(at), 99, at)
				return errors.Join(err, errUndone)
			})
			if errors.Is(err, errFault) {
				return err
			}
			if err != nil && err.Error() == errUndone.Error() {
				return nil
			}
			return err
		})
	})
}

// errUndone undoes an update that went well.
var errUndone = errors.New("undone")

func TestAnEpochThatSomebodyElseOpenedIsStale(t *testing.T) {
	w := newWorld(t, 2048)
	w.append(user("one"))
	c, err := w.try(nil)
	if err != nil {
		t.Fatal(err)
	}
	w.compile()
	err = w.db.Update(t.Context(), func(tx store.Tx) error {
		info, err := tx.Log().Session(t.Context(), w.key)
		if err != nil {
			return err
		}
		return prompt.Open(t.Context(), tx.Prompt(), info, *c.Opened, tx.Now())
	})
	if !errors.Is(err, prompt.ErrStale) {
		t.Error(err)
	}
}

func TestAnEpochOfAnotherRendererIsRefused(t *testing.T) {
	w := newWorld(t, 2048)
	w.append(user("one"))
	w.compile()
	w.faults.epoch = func(r *prompt.EpochRow) { r.Doc = `{"renderer":9}` }
	const want = "epoch 1 was made by renderer 9, which this version does not have: use a newer one"
	if _, err := w.try(nil); err == nil || err.Error() != want {
		t.Error(err)
	}
	if _, err := w.rebuild(w.made[0].call); err == nil || err.Error() != want {
		t.Error(err)
	}
}

func TestAPromptThatIsAheadOfTheSessionIsNotUsed(t *testing.T) {
	w := newWorld(t, 2048)
	w.append(user("one"), agent("two"))
	w.compile()
	var p prompt.Compiled
	err := w.view(func(tx store.Tx, info turn.SessionInfo) (err error) {
		r := w.request
		r.Session, r.Session.Head = info, 2
		if p, err = prompt.Compile(t.Context(), prompt.AllRows{Turns: tx.Log(), Prompts: tx.Prompt(), Checkpoints: tx.Compress()}, r, nil); err != nil {
			return err
		}
		r.Session.Head = 1
		p, err = prompt.Compile(t.Context(), prompt.AllRows{Turns: tx.Log(), Prompts: tx.Prompt(), Checkpoints: tx.Compress()}, r, p.Projection)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if seqs := shown(p.Prompt); !slices.Equal(seqs, []int64{1}) {
		t.Errorf("it shows %v", seqs)
	}
}
