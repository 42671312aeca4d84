module github.com/turnstone-dev/turnstone/budget/bpe/compare

go 1.26.0

replace github.com/turnstone-dev/turnstone => ../../..

require (
	github.com/pkoukk/tiktoken-go v0.1.8
	github.com/pkoukk/tiktoken-go-loader v0.0.2
	github.com/turnstone-dev/turnstone v0.0.0-00010101000000-000000000000
)

require (
	github.com/dlclark/regexp2 v1.10.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
)
