package observe

// Names of attributes, after OpenTelemetry's semantic conventions for HTTP and for generative AI. They are written out
// here since the conventions' own packages change their names with every version.
const (
	httpMethod = "http.request.method"
	httpRoute  = "http.route"
	httpStatus = "http.response.status_code"
	errorType  = "error.type"

	genAIOperation    = "gen_ai.operation.name"
	genAIProvider     = "gen_ai.provider.name"
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
