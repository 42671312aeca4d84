package compress_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/turnstone-dev/turnstone/compress"
	"github.com/turnstone-dev/turnstone/turn"
)

// TestLiteralsOfToolsAreWhatTheyMean: the escapes of JSON are no part of what a tool was given or returned.
func TestLiteralsOfToolsAreWhatTheyMean(t *testing.T) {
	const want = `C:\srv\data.bin`
	for name, tt := range map[string]struct{ arguments, result string }{
		"arguments":    {`{"path":"main.go","text":"package main\n\nfunc main() {\n\treturn\n}\n// C:\\srv\\data.bin"}`, `{"ok":true}`},
		"a result":     {`{"path":"main.go"}`, `{"output":"FAIL\n\tC:\\srv\\data.bin\t0.031s\n"}`},
		"a text":       {`{"path":"main.go"}`, `"FAIL\n\tC:\\srv\\data.bin\t0.031s\n"`},
		"JSON in JSON": {`{"path":"main.go"}`, `"{\"output\":\"FAIL\\n\\tC:\\\\srv\\\\data.bin\\n\"}"`},
		"a list":       {`{"path":"main.go"}`, `["FAIL\n\treturn",["\tC:\\srv\\data.bin"]]`},
		"cut off":      {`{"path":"main.go"}`, `{"output":"FAIL\n\treturn"} \ "C:\srv\data.bin`},
	} {
		t.Run(name, func(t *testing.T) {
			l := (&log{}).user("Go on.")
			for range 3 {
				l.tool("run", tt.arguments, turn.CallOK, tt.result)
			}
			l.agent(strings.Repeat("The work goes on as it went on before. ", 40))
			all := compress.Verify(request(l, 400), "nothing").Literals
			if !slices.Contains(all, want) {
				t.Errorf("%q", all)
			}
			for _, literal := range all {
				if strings.Contains(literal, `\n`) || strings.Contains(literal, `\t`) || strings.Contains(literal, `\\`) {
					t.Errorf("%q has an escape in it", literal)
				}
			}
		})
	}
}
