package main

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/budget"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/simulate"
)

// drawing is what stands in a plot: points by colour, and how many lines have each.
type drawing struct {
	points map[string][][2]float64
	lines  map[string]int
	labels []string
}

func draw(t *testing.T, r *simulate.Report) drawing {
	t.Helper()
	d := drawing{points: map[string][][2]float64{}, lines: map[string]int{}}
	decoder := xml.NewDecoder(strings.NewReader(string(plot(r))))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return d
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.CharData:
			d.labels = append(d.labels, string(token))
		case xml.StartElement:
			values := map[string]string{}
			for _, a := range token.Attr {
				values[a.Name.Local] = a.Value
			}
			switch token.Name.Local {
			case "line":
				d.lines[values["stroke"]]++
			case "polyline":
				for pair := range strings.FieldsSeq(values["points"]) {
					var x, y float64
					if _, err := fmt.Sscanf(pair, "%f,%f", &x, &y); err != nil {
						t.Fatal(err)
					}
					d.points[values["stroke"]] = append(d.points[values["stroke"]], [2]float64{x, y})
				}
			}
		}
	}
}

func TestPlot(t *testing.T) {
	window, err := budget.WindowOf(4096)
	if err != nil {
		t.Fatal(err)
	}
	r := &simulate.Report{Window: window}
	for i := range 10 {
		r.Calls = append(r.Calls, simulate.Call{
			Turns: int64(10 * (i + 1)), Tokens: 300 * (i%5 + 1), Pass: i == 5, Baselines: []int{9000 * i, 200, 300, 400},
		})
	}
	d := draw(t, r)
	own := d.points[oursColour]
	if len(own) != 10 {
		t.Fatalf("%d points of ours", len(own))
	}
	if own[9][0] != plotLeft+plotWide || own[0][0] <= plotLeft || own[1][1] >= own[0][1] || own[5][1] != own[0][1] {
		t.Errorf("ours goes through %v", own)
	}
	for i, colour := range baselineColours {
		if len(d.points[colour]) != 10 {
			t.Errorf("%s has %d points", simulate.Baselines()[i], len(d.points[colour]))
		}
	}
	// Each colour is drawn once more in the legend.
	if d.lines[passColour] != 2 || d.lines[windowColour] != 2 || d.lines[oursColour] != 1 {
		t.Errorf("lines: %v", d.lines)
	}
	// The scale ends at twice the window, whatever the full history takes, so that the others can be seen.
	if full := d.points[baselineColours[0]]; full[9][1] >= plotTop {
		t.Errorf("the full history ends inside of the frame: %v", full[9])
	}
	text := strings.Join(d.labels, "|")
	for _, want := range append(simulate.Baselines(), ours, "window", "pass", "turns", "tokens", "|8,192|", "|100|") {
		if !strings.Contains(text, want) {
			t.Errorf("no label says %s: %s", want, text)
		}
	}
}

// A conversation in which no prompt fits has nothing to show, and is shown nevertheless.
func TestPlotOfNothing(t *testing.T) {
	window, err := budget.WindowOf(4096)
	if err != nil {
		t.Fatal(err)
	}
	if d := draw(t, &simulate.Report{Window: window}); len(d.points) != 0 || d.lines[windowColour] != 2 {
		t.Errorf("drawn: %+v", d)
	}
}
