package budget

const k = 1024

// Templates by family. The numbers for OpenAI are its documented ones (three tokens around a message, one for
// its role, three that begin the reply); the others are estimates from published templates, which the first
// reports of a provider correct. What a picture costs is an upper bound where one is documented, and otherwise
// what the largest picture came to.
var (
	// usualTemplate is for models nobody has heard of: ChatML or something like it.
	usualTemplate = Template{Prompt: 6, Message: 5, Call: 16, Tool: 16, Image: 1600}

	openAI   = Template{Prompt: 3, Message: 4, Call: 8, Tool: 12}
	harmony  = Template{Prompt: 70, Message: 5, Call: 14, Tool: 16}
	claude   = Template{Prompt: 5, Message: 4, Call: 24, Tool: 32, Image: 1600}
	gemini   = Template{Prompt: 2, Message: 3, Call: 10, Tool: 16, Image: 4128}
	llama3   = Template{Prompt: 6, Message: 5, Call: 12, Tool: 16}
	llama3d  = Template{Prompt: 30, Message: 5, Call: 12, Tool: 16} // with the date block of 3.1 and later
	chatML   = Template{Prompt: 4, Message: 5, Call: 14, Tool: 14}
	qwenChat = Template{Prompt: 24, Message: 5, Call: 14, Tool: 14} // with the default system prompt
	gemma    = Template{Prompt: 6, Message: 5, Call: 14, Tool: 14}
	mistral  = Template{Prompt: 3, Message: 4, Call: 14, Tool: 14}
	llama2   = Template{Prompt: 3, Message: 8, Call: 14, Tool: 14}
	phi      = Template{Prompt: 4, Message: 4, Call: 14, Tool: 14}
	deepseek = Template{Prompt: 3, Message: 3, Call: 14, Tool: 14}
)

// pictures returns a template with what a picture costs at most.
func (t Template) pictures(image int) Template {
	t.Image = image
	return t
}

func local(name string, context int, size float64, t Template, aliases ...string) Profile {
	return Profile{
		Name: name, Aliases: aliases, Provider: Ollama, Context: context, Contexts: offered(context), Size: size,
		Tokenizer: AskOllama, Template: t, Vision: t.Image > 0,
	}
}

func hosted(provider, name string, context int, tokenizer string, t Template, aliases ...string) Profile {
	return Profile{
		Name: name, Aliases: aliases, Provider: provider, Context: context, Tokenizer: tokenizer,
		Template: t, Vision: t.Image > 0,
	}
}

// offered are the usual sizes up to a local model's context, which costs memory as it grows.
func offered(context int) []int {
	var sizes []int
	for size := 4 * k; size < context && size <= 128*k; size *= 2 {
		sizes = append(sizes, size)
	}
	return append(sizes, context)
}

// known are the built-in profiles: what Ollama's library calls latest stands for a name without a tag.
var known = []Profile{
	local("llama4", 10240*k, 109, llama3d.pictures(2465), "llama4:scout", "llama4:16x17b"),
	local("llama4:maverick", 1024*k, 400, llama3d.pictures(2465), "llama4:128x17b"),
	local("llama3.3", 128*k, 70, llama3d),
	local("llama3.2", 128*k, 3, llama3d),
	local("llama3.2-vision", 128*k, 11, llama3d.pictures(1601)),
	local("llama3.1", 128*k, 8, llama3d),
	local("llama3", 8*k, 8, llama3),
	local("llama2", 4*k, 7, llama2),
	local("codellama", 16*k, 7, llama2),
	local("tinyllama", 2*k, 1.1, llama2),
	local("llava", 32*k, 7, mistral.pictures(2880)),
	local("llava-llama3", 8*k, 8, llama3.pictures(2880)),

	local("qwen3.6", 256*k, 35, chatML.pictures(4096)),
	local("qwen3.5", 256*k, 9, chatML.pictures(4096)),
	local("qwen3", 40*k, 8, chatML),
	local("qwen3-coder", 256*k, 30, chatML),
	local("qwen3-vl", 256*k, 8, chatML.pictures(4096)),
	local("qwen2.5", 32*k, 7, qwenChat),
	local("qwen2.5-coder", 32*k, 7, qwenChat),
	local("qwen2.5vl", 125*k, 7, qwenChat.pictures(4096)),
	local("qwen2", 32*k, 7, chatML),
	local("qwq", 40*k, 32, chatML),

	local("gemma4", 128*k, 8, gemma.pictures(1120), "gemma4:e2b", "gemma4:e4b"),
	local("gemma4:26b", 256*k, 25.8, gemma.pictures(1120)),
	local("gemma4:31b", 256*k, 31, gemma.pictures(1120)),
	local("gemma3", 128*k, 4, gemma.pictures(260)),
	local("gemma3:1b", 32*k, 1, gemma),
	local("gemma3:270m", 32*k, 0.27, gemma),
	local("gemma3n", 32*k, 8, gemma),
	local("gemma2", 8*k, 9, gemma),
	local("gemma", 8*k, 9, gemma),
	local("codegemma", 8*k, 9, gemma),

	local("mistral", 32*k, 7, mistral),
	local("mistral-nemo", 1000*k, 12, mistral),
	local("mistral-small", 32*k, 24, mistral, "mistral-small:22b"),
	local("mistral-small3.1", 128*k, 24, mistral.pictures(3080)),
	local("mistral-small3.2", 128*k, 24, mistral.pictures(3080)),
	local("magistral", 40*k, 24, mistral),
	local("devstral", 128*k, 24, mistral),
	local("codestral", 32*k, 22, mistral),
	local("mixtral", 32*k, 46.7, mistral),
	local("mixtral:8x22b", 64*k, 141, mistral),

	local("phi4", 16*k, 14, phi),
	local("phi4-mini", 128*k, 3.8, phi),
	local("phi4-reasoning", 32*k, 14, phi),
	local("phi3", 128*k, 3.8, phi),
	local("phi3.5", 128*k, 3.8, phi),

	local("deepseek-r1", 128*k, 8, deepseek),
	local("deepseek-v3", 160*k, 671, deepseek, "deepseek-v3.1"),
	local("deepseek-coder-v2", 160*k, 16, deepseek),
	local("deepseek-coder", 16*k, 1.3, deepseek),
	local("gpt-oss", 128*k, 20.9, harmony),
	local("gpt-oss:120b", 128*k, 116.8, harmony, "gpt-oss-120b"),

	local("granite3.3", 128*k, 8, chatML),
	local("granite4", 128*k, 3, chatML),
	local("command-r", 128*k, 35, chatML),
	local("command-r-plus", 128*k, 104, chatML),
	local("smollm2", 8*k, 1.7, chatML),
	local("olmo2", 4*k, 7, chatML),
	local("falcon3", 32*k, 7, chatML),
	local("hermes3", 128*k, 8, chatML),
	local("nemotron", 128*k, 70, llama3d),
	local("nemotron-3-nano", 1024*k, 31.6, chatML),
	local("minicpm-v", 32*k, 8, chatML.pictures(640)),
	local("yi", 4*k, 6, chatML),
	local("starcoder2", 16*k, 3, chatML),
	local("glm4", 128*k, 9, chatML),

	hosted(OpenAI, "gpt-6", 1_050_000, "", openAI.pictures(14_400)),
	hosted(OpenAI, "gpt-5.6", 1_050_000, O200k, openAI.pictures(12_000)),
	hosted(OpenAI, "gpt-5.5", 1_050_000, O200k, openAI.pictures(12_000)),
	hosted(OpenAI, "gpt-5.4", 1_050_000, O200k, openAI.pictures(12_000)),
	hosted(OpenAI, "gpt-5.4-mini", 400_000, O200k, openAI.pictures(2489)),
	hosted(OpenAI, "gpt-5.4-nano", 400_000, O200k, openAI.pictures(3779)),
	hosted(OpenAI, "gpt-5", 400_000, O200k, openAI.pictures(1190)),
	hosted(OpenAI, "gpt-5-chat", 128_000, O200k, openAI.pictures(1190), "gpt-5.1-chat", "gpt-5.2-chat"),
	hosted(OpenAI, "gpt-5-mini", 400_000, O200k, openAI.pictures(2489)),
	hosted(OpenAI, "gpt-5-nano", 400_000, O200k, openAI.pictures(3779)),
	hosted(OpenAI, "gpt-4.1", 1_047_576, O200k, openAI.pictures(1445)),
	hosted(OpenAI, "gpt-4.1-mini", 1_047_576, O200k, openAI.pictures(2489)),
	hosted(OpenAI, "gpt-4.1-nano", 1_047_576, O200k, openAI.pictures(3779)),
	hosted(OpenAI, "gpt-4.5-preview", 128_000, O200k, openAI.pictures(1445)),
	hosted(OpenAI, "gpt-4o", 128_000, O200k, openAI.pictures(1445), "chatgpt-4o-latest"),
	hosted(OpenAI, "gpt-4o-mini", 128_000, O200k, openAI.pictures(25_501)),
	hosted(OpenAI, "gpt-4-turbo", 128_000, Cl100k, openAI.pictures(1445)),
	hosted(OpenAI, "gpt-4", 8192, Cl100k, openAI),
	hosted(OpenAI, "gpt-4-32k", 32_768, Cl100k, openAI),
	hosted(OpenAI, "gpt-3.5-turbo", 16_385, Cl100k, openAI),
	hosted(OpenAI, "o1", 200_000, O200k, openAI.pictures(1275)),
	hosted(OpenAI, "o1-mini", 128_000, O200k, openAI),
	hosted(OpenAI, "o1-preview", 128_000, O200k, openAI),
	hosted(OpenAI, "o3", 200_000, O200k, openAI.pictures(1275)),
	hosted(OpenAI, "o3-mini", 200_000, O200k, openAI),
	hosted(OpenAI, "o4-mini", 200_000, O200k, openAI.pictures(2642)),

	// A family's name alone, and what comes after the versions below, is taken for the current line.
	hosted(Anthropic, "claude", 1_000_000, "", claude.pictures(4784), "claude-opus", "claude-sonnet", "claude-fable"),
	hosted(Anthropic, "claude-haiku", 1_000_000, "", claude.pictures(4784)),
	hosted(Anthropic, "claude-opus-4", 200_000, "", claude, "claude-opus-4-1", "claude-opus-4-5"),
	hosted(Anthropic, "claude-opus-4-6", 1_000_000, "", claude, "claude-opus-4.6", "claude-sonnet-4-6", "claude-sonnet-4.6"),
	hosted(Anthropic, "claude-opus-4-7", 1_000_000, "", claude.pictures(4784), "claude-opus-4.7", "claude-opus-4-8", "claude-opus-4.8"),
	hosted(Anthropic, "claude-sonnet-4", 200_000, "", claude),
	hosted(Anthropic, "claude-haiku-4", 200_000, "", claude),
	hosted(Anthropic, "claude-3", 200_000, "", claude),
	hosted(Anthropic, "claude-2", 100_000, "", claude.pictures(0)),

	hosted(Google, "gemini", 1_048_576, "", gemini.pictures(2240)),
	hosted(Google, "gemini-2.5", 1_048_576, "", gemini),
	hosted(Google, "gemini-2.0", 1_048_576, "", gemini),
	hosted(Google, "gemini-1.5-pro", 2_097_152, "", gemini),
	hosted(Google, "gemini-1.5-flash", 1_048_576, "", gemini),

	hosted(Mistral, "mistral-large-latest", 128*k, "", mistral),
	hosted(Mistral, "mistral-medium-latest", 128*k, "", mistral.pictures(3080)),
	hosted(Mistral, "mistral-small-latest", 128*k, "", mistral.pictures(3080)),
	hosted(Mistral, "codestral-latest", 256*k, "", mistral),
	hosted(Mistral, "ministral-8b-latest", 128*k, "", mistral),
	hosted(DeepSeek, "deepseek-chat", 128*k, "", deepseek),
	hosted(DeepSeek, "deepseek-reasoner", 128*k, "", deepseek),
	hosted(XAI, "grok-3", 128*k, "", chatML),
	hosted(XAI, "grok-4", 256_000, "", chatML.pictures(1792)),
}
