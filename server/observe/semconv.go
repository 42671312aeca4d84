package observe

import (
	"context"
	"errors"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/turnstone-dev/turnstone/internal/httpstream"
	"github.com/turnstone-dev/turnstone/llm"
)

// Names of attributes, after OpenTelemetry's semantic conventions for HTTP and for generative AI. They are written out
// here since the conventions' own packages change their names with every version.
const (
	httpMethod    = "http.request.method"
	httpRoute     = "http.route"
	httpStatus    = "http.response.status_code"
	urlPath       = "url.path"
	urlScheme     = "url.scheme"
	clientAddress = "client.address"
	errorType     = "error.type"
	// otherValue is what stands for values of which there would be no end.
	otherValue = "_OTHER"

	genAIOperation    = "gen_ai.operation.name"
	genAIProvider     = "gen_ai.provider.name"
	genAIConversation = "gen_ai.conversation.id"
	genAIOutput       = "gen_ai.output.type"
	genAIModel        = "gen_ai.request.model"
	genAIMaxTokens    = "gen_ai.request.max_tokens"
	genAITemperature  = "gen_ai.request.temperature"
	genAIInputTokens  = "gen_ai.usage.input_tokens"
	genAICachedTokens = "gen_ai.usage.cache_read.input_tokens"
	genAIOutputTokens = "gen_ai.usage.output_tokens"
	genAIFinish       = "gen_ai.response.finish_reasons"

	requestID  = "turnstone.request_id"
	tenantName = "turnstone.tenant"
	firstToken = "turnstone.first_token"
)

// chat is the one operation of models that there is.
const chat = "chat"

// Names of metrics and of their labels: those of the conventions as Prometheus writes them.
const (
	tokenUsage  = "gen_ai_client_token_usage"
	duration    = "gen_ai_client_operation_duration_seconds"
	toFirst     = "gen_ai_client_operation_time_to_first_chunk_seconds"
	byOperation = "gen_ai_operation_name"
	byProvider  = "gen_ai_provider_name"
	byModel     = "gen_ai_request_model"
	byTokens    = "gen_ai_token_type"
	byError     = "error_type"
)

// Bounds of histograms that the conventions give.
var (
	tokenBuckets  = prometheus.ExponentialBuckets(1, 4, 14)
	secondBuckets = prometheus.ExponentialBuckets(0.01, 2, 14)
)

// finishReasons are what the conventions call our reasons, where they call them otherwise.
var finishReasons = map[llm.Stop]string{llm.StopCalls: "tool_calls", llm.StopFilter: "content_filter"}

// errorTypes are the kinds of failures of models.
var errorTypes = []struct {
	kind error
	name string
}{
	{context.Canceled, "cancelled"},
	{context.DeadlineExceeded, "timeout"},
	{httpstream.ErrSilent, "timeout"}, // before what it is called where it broke off an answer
	{llm.ErrUnreachable, "unreachable"},
	{llm.ErrModelMissing, "model_missing"},
	{llm.ErrRateLimited, "rate_limited"},
	{llm.ErrContextExceeded, "context_exceeded"},
	{llm.ErrRefused, "refused"},
	{llm.ErrFailed, "failed"},
	{llm.ErrInterrupted, "interrupted"},
}

// errorTypeOf tells of an error by its kind: its words may be those of the server, and hold what was said.
func errorTypeOf(err error) string {
	for _, t := range errorTypes {
		if errors.Is(err, t.kind) {
			return t.name
		}
	}
	return otherValue
}
