// Talks to a front with the clients that Ollama and OpenAI make themselves: node clients.mjs URL
import assert from 'node:assert/strict'
import { Ollama } from 'ollama'
import OpenAI from 'openai'

const [, , url] = process.argv

async function withOllama() {
  const client = new Ollama({ host: url })
  assert.equal((await client.list()).models.length, 1)
  const messages = [{ role: 'user', content: 'say hello' }]
  const chat = async () => {
    let said = { role: 'assistant', content: '' }
    let last
    for await (const part of await client.chat({ model: 'm', messages, stream: true })) {
      said.content += part.message.content
      if (part.message.tool_calls) said.tool_calls = part.message.tool_calls
      last = part
    }
    assert.ok(last.done && last.eval_count > 0)
    messages.push(said)
    return said
  }
  assert.equal((await chat()).content, 'hello to you')
  messages.push({ role: 'user', content: 'use the tool' })
  const calling = (await client.chat({ model: 'm', messages })).message
  assert.equal(calling.tool_calls.length, 1)
  messages.push(calling, { role: 'tool', tool_name: calling.tool_calls[0].function.name, content: 'cold' })
  assert.equal((await chat()).content, 'the tool said cold')
  messages.push({ role: 'user', content: 'talk on and on' })
  const stream = await client.chat({ model: 'm', messages, stream: true })
  let heard = ''
  await assert.rejects(async () => {
    for await (const part of stream) {
      heard += part.message.content
      stream.abort()
    }
  })
  messages.push({ role: 'assistant', content: heard }, { role: 'user', content: 'say hello' })
  assert.equal((await chat()).content, 'hello to you')
  await assert.rejects(client.chat({ model: 'm', messages: [{ role: 'user', content: 'fail' }] }), { error: 'told to fail' })
}

async function withOpenAI() {
  const client = new OpenAI({ baseURL: url + '/v1', apiKey: 'theirs', maxRetries: 0 })
  assert.equal((await client.models.list()).data.length, 1)
  const messages = [{ role: 'user', content: 'say hello' }]
  const whole = await client.chat.completions.create({ model: 'm', messages })
  assert.equal(whole.choices[0].message.content, 'hello to you')
  assert.ok(whole.usage.total_tokens > 0)
  messages.push(whole.choices[0].message, { role: 'user', content: 'use the tool' })
  const made = await client.chat.completions.stream({ model: 'm', messages, stream_options: { include_usage: true } }).finalChatCompletion()
  assert.equal(made.choices[0].finish_reason, 'tool_calls')
  assert.ok(made.usage.total_tokens > 0)
  const calling = made.choices[0].message
  messages.push(calling, { role: 'tool', tool_call_id: calling.tool_calls[0].id, content: 'cold' })
  const answered = await client.chat.completions.create({ model: 'm', messages })
  assert.equal(answered.choices[0].message.content, 'the tool said cold')
  messages.push(answered.choices[0].message, { role: 'user', content: 'talk on and on' })
  const stream = await client.chat.completions.create({ model: 'm', messages, stream: true })
  let heard = ''
  for await (const part of stream) {
    heard += part.choices[0]?.delta?.content ?? ''
    if (heard) break
  }
  stream.controller.abort()
  messages.push({ role: 'assistant', content: heard }, { role: 'user', content: 'say hello' })
  const again = await client.chat.completions.create({ model: 'm', messages })
  assert.equal(again.choices[0].message.content, 'hello to you')
  await assert.rejects(client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'fail' }] }), { status: 400 })
}

await withOllama()
await withOpenAI()
console.log('content')
