package turnstone

import _ "embed"

//go:embed docs/state-export.schema.json
var stateExportSchema string

// StateExportSchema returns the JSON Schema of the StateExport that daemons receive.
func StateExportSchema() string { return stateExportSchema }
