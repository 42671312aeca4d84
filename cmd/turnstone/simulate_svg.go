package main

import (
	"bytes"
	"fmt"
	"math"

	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/progress"
	"github.com/turnstone-dev/turnstone/cmd/turnstone/internal/simulate"
)

// Sizes of the plot, in pixels.
const (
	plotWidth, plotHeight   = 960, 440
	plotLeft, plotRight     = 70, 20
	plotTop, plotBottom     = 50, 50
	plotWide, plotHigh      = plotWidth - plotLeft - plotRight, plotHeight - plotTop - plotBottom
	plotTicks               = 5
	plotBeyond              = 2.0 // how many times the window the scale reaches at most
	oursColour, passColour  = "#0b6e4f", "#c1121f"
	windowColour, textStyle = "#333", "font:12px sans-serif;fill:#333"
)

var baselineColours = []string{"#8d99ae", "#e09f3e", "#9d4edd", "#4895ef"}

// chart turns turns and tokens into places.
type chart struct {
	bytes.Buffer
	turns, tokens float64
}

func (c *chart) x(turn int64) float64 { return plotLeft + plotWide*float64(turn)/c.turns }

func (c *chart) y(tokens int) float64 { return plotTop + plotHigh*(1-float64(tokens)/c.tokens) }

// plot draws how large each prompt was after which turn, the passes, the window and what other ways would have
// sent, as one SVG document that needs nothing else.
func plot(r *simulate.Report) []byte {
	c := &chart{turns: 1, tokens: float64(r.Window.Context) * 1.05}
	for _, call := range r.Calls {
		c.turns = math.Max(c.turns, float64(call.Turns))
		for _, tokens := range append(call.Baselines, call.Tokens) {
			c.tokens = math.Max(c.tokens, math.Min(float64(tokens), plotBeyond*float64(r.Window.Context)))
		}
	}
	fmt.Fprintf(c, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+"\n", plotWidth, plotHeight, plotWidth, plotHeight)
	c.WriteString("<title>Tokens of each prompt over the turns of a conversation</title>\n")
	fmt.Fprintf(c, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", plotWidth, plotHeight)
	// Full history may go far beyond the window; it is cut off at the frame.
	fmt.Fprintf(c, `<clipPath id="frame"><rect x="%d" y="%d" width="%d" height="%d"/></clipPath>`+"\n", plotLeft, plotTop, plotWide, plotHigh)
	c.axes()
	c.lines(r)
	c.legend()
	c.WriteString("</svg>\n")
	return c.Bytes()
}

// axes draws the frame with its numbers.
func (c *chart) axes() {
	for i := range plotTicks + 1 {
		share := float64(i) / plotTicks
		tokens, turns := int(share*c.tokens), int64(share*c.turns)
		c.rule(plotLeft, c.y(tokens), plotLeft+plotWide, c.y(tokens), "#e5e5e5", 1)
		c.label(plotLeft-8, c.y(tokens)+4, "end", progress.Thousands(int64(tokens)))
		c.label(c.x(turns), plotTop+plotHigh+20, "middle", progress.Thousands(turns))
	}
	c.label(plotLeft+plotWide/2, plotHeight-10, "middle", "turns")
	c.label(plotLeft-8, plotTop-10, "end", "tokens")
}

// lines draws what was measured, ours on top.
func (c *chart) lines(r *simulate.Report) {
	c.WriteString(`<g clip-path="url(#frame)">` + "\n")
	for i := range simulate.Baselines() {
		c.curve(r.Calls, baselineColours[i], 1, func(call simulate.Call) int { return call.Baselines[i] })
	}
	for _, call := range r.Calls {
		if call.Pass {
			c.rule(c.x(call.Turns), plotTop, c.x(call.Turns), plotTop+plotHigh, passColour, 0.7)
		}
	}
	c.curve(r.Calls, oursColour, 2, func(call simulate.Call) int { return call.Tokens })
	c.WriteString("</g>\n")
	window := c.y(r.Window.Context)
	c.rule(plotLeft, window, plotLeft+plotWide, window, windowColour, 1.5)
}

func (c *chart) curve(calls []simulate.Call, colour string, width float64, size func(simulate.Call) int) {
	fmt.Fprintf(c, `<polyline fill="none" stroke="%s" stroke-width="%g" points="`, colour, width)
	for i, call := range calls {
		if i > 0 {
			c.WriteByte(' ')
		}
		fmt.Fprintf(c, "%.1f,%.1f", c.x(call.Turns), c.y(size(call)))
	}
	c.WriteString("\"/>\n")
}

func (c *chart) legend() {
	names := append([]string{ours}, simulate.Baselines()...)
	colours := append([]string{oursColour}, baselineColours...)
	names, colours = append(names, "window"), append(colours, windowColour)
	names, colours = append(names, "pass"), append(colours, passColour)
	for i, name := range names {
		x := float64(plotLeft + i*(plotWide/len(names)))
		c.rule(x, 18, x+18, 18, colours[i], 3)
		c.label(x+24, 22, "start", name)
	}
}

func (c *chart) rule(x1, y1, x2, y2 float64, colour string, width float64) {
	fmt.Fprintf(c, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="%g"/>`+"\n", x1, y1, x2, y2, colour, width)
}

func (c *chart) label(x, y float64, anchor, text string) {
	fmt.Fprintf(c, `<text x="%.1f" y="%.1f" text-anchor="%s" style="%s">%s</text>`+"\n", x, y, anchor, textStyle, text)
}
