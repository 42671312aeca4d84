package server

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
)

// meanings say what properties are that mean the same wherever they stand, by their name; with the name of a schema
// before it, what it means there alone. Everything else is described where it is declared.
var meanings = map[string]string{
	"action": "what happened to it", "actions": "actions", "add_artifacts": "files that were made or changed", "add_decisions": "decisions that were made",
	"add_evidence": "what shows that it was done", "add_milestones": "steps on the way", "after_seq": "after which turn", "agent_id": "which agent acted",
	"archive": "ids of notes that are put away", "artifacts": "files that were made or changed", "at": "when", "available": "the tokens that are left for more",
	"blocking": "nothing goes on before it is done", "bookmarks": "positions that have a name", "budget_total": "the tokens that there were",
	"budget_used": "the tokens that were used", "by": "who makes the change", "cached_tokens": "those of the prompt that the model had already",
	"certainty": "how sure the count is", "checkpoint_count": "how many checkpoints there were", "citation": "where it stands, to be shown to people",
	"clear": "ids of notes that are deleted", "completed_at": "when it was completed", "compressed": "whether anything became smaller",
	"compressed_at": "when it was made smaller the last time", "compression_count": "how often it was made smaller", "compression_number": "the pass that made it",
	"compressions": "how many passes there were", "confidence": "how sure it is, from 0 to 1", "content": "what it says", "context": "the size of the model's context in tokens",
	"context_refs": "ids of turns that it is about", "count": "how many", "created_at": "when it was made", "current_tokens": "how many tokens it has",
	"daemon": "the daemon's name", "daemon_outputs": "what daemons found out during the exchange", "decisions": "what was decided", "description": "what it is about",
	"due_at": "until when it is to be done", "end": "the last turn that it shows", "epoch": "the epoch: how often the beginning of the prompt was made anew",
	"error": "what went wrong", "errors": "what went wrong", "evidence": "what shows that it was done", "expires_at": "until when it is kept",
	"export_id": "the export of the exchange", "facts": "how many facts are watched", "facts_held": "how many of them the prompt still holds or names",
	"facts_named":    "how many of these it only names, by the turns where they can be looked up",
	"files_modified": "files that were changed", "finished": "flows that were finished and are off the stack", "flow_id": "the flow's id", "form": "in which form it was said",
	"free": "the tokens of the window that nothing has", "from": "the first turn", "given_up": "when it was given up", "goal_id": "the goal it belongs to",
	"goal_parts": "how many parts of goals are watched", "goal_parts_held": "how many of them the prompt still holds", "goals": "goals", "id": "its id",
	"idempotency_key": "under which the same again changes nothing", "importance": "how important it is, from 0 to 1", "invalidated": "flows that are no longer valid",
	"items": "what is on the page", "key_decisions": "what was decided there", "last_activity": "when something happened in it the last time",
	"late": "texts at the end of the prompt", "level": "how much was left out", "lines": "line by line", "locked": "it can no longer be changed",
	"margin": "by how much the count may be wrong, as a share of it", "meaning": "what the level means, in words", "message": "what was done",
	"message_count": "how many turns prompts could show then, with summaries that stand in the log", "message_id": "shared by the turns of one message", "messages": "what the model is sent", "milestones": "steps on the way",
	"missing": "what the summary does not hold", "mode": "what summaries preserve: developer, planning, assistant or debugger", "model": "which model", "name": "its name", "next_steps": "what is to be done next",
	"number": "its number in the session", "op": "whether the line is kept, added or removed", "opened_epoch": "the epoch that was opened for it",
	"original_tokens": "how many tokens the turns had", "output": "what it found out", "owner": "who has it in hand", "parent": "what it is a part of, or comes from",
	"part": "the part of the prompt", "parts": "the parts of the prompt, in their order", "pass": "the pass", "path": "where it is", "pinned": "whether it is pinned now",
	"pins": "how many turns are pinned", "pins_shown": "how many of them the prompt shows", "preview": "only what would be done is said", "priority": "how much it matters: high, medium or low",
	"problems": "what went wrong on the way", "progress": "how much of it is done, from 0 to 1", "prompt_tokens": "the tokens of the prompt", "put": "notes that are added or changed",
	"rationale": "why", "reason": "why", "remembered": "what was remembered", "remove_decisions": "decisions that are taken out", "removed": "what was removed, by where it was", "repeats": "turns that stay and still say something of it word for word, at most 64", "repeats_more": "how many more of these there are",
	"rename": "its new description", "repaired": "what was put back into the summary", "reply": "what was answered", "requires_confirmation": "somebody must agree before it is done",
	"result": "what came of it", "revision": "counts the states from 0 on", "revoked_at": "since when it opens nothing", "role": "who said it", "scopes": "what it opens",
	"score": "from 0 to 1", "seq": "the turn's number in its session", "session": "the session's id", "session_id": "the session's id", "sessions": "the sessions that were reached",
	"set_aside": "flows that wait beneath", "set_decisions": "changes of decisions", "set_milestones": "changes of steps", "settings_sha256": "the hash of what the prompt begins with",
	"sha256": "the hash of the prompt", "shared": "how many turns are still shown, since they are the parent's", "slots": "what the flow has to know",
	"source": "where it comes from", "source_hash": "the hash of the turns that it was made from", "stage": "how far it has come, in your own words",
	"started_at": "when it began", "status": "how it stands", "status_at": "since when it stands so", "stored_context": "what is stored now", "success": "whether it was done",
	"summary": "what stands for the turns", "tags": "words to find it by", "tenant": "whose it is", "text": "the words of it", "thinking": "what the model thought",
	"tier": "which class of windows the model's belongs to", "title": "what it is called", "to": "the last turn", "token_count": "how many tokens the prompt had",
	"texts": "what of it would go; in a preview alone", "unreachable": "files that are missing or could not be deleted", "tokens": "how many tokens", "tools": "the tools that the model may call", "topics": "what it is about, in words", "touched": "goals, actions, slots, notes and items of memory that were reached by links or words, at most 256",
	"touched_more": "how many more of these there are", "tries": "how often it was tried", "turn_id": "the turn's id",
	"turn_ids": "the turns that it points at", "turns": "turns", "turns_left_behind": "how many turns prompts no longer show", "turns_shown": "how many turns the prompt shows",
	"type": "of which type it is", "undone": "what was taken back", "updated_at": "when it was changed the last time", "urgency": "how urgent the exchange was",
	"usable": "the tokens of the context that a prompt and its reply may have", "user": "who talks", "value": "what is known", "version": "counts the changes from 1 on",
	"warnings": "what to look at, though nothing went wrong", "where": "at which place: a table of the store, or a kind of file",
	"why": "why it is changed", "worth": "turns in it that are worth reading again",

	"AccessKey.name": "what it is for", "Compared.session_id": "the session's id", "Dropped.candidate": "its place among the candidates, from 0",
	"FollowUp.action": "store, retrieve or clear", "Pass.after": "the account after it", "Pass.checkpoints": "the checkpoints that it made",
	"Receipt.files": "files that are written again without it", "Receipt.turns": "how many turns were forgotten", "Receipt.what": "turns, session or user", "Session.model": "which model answers", "Session.status": "ended sessions go on when something is appended",
	"Touched.id": "its id; of a slot its flow's, and its name", "Touched.kind": "goal, action, slot, item or note",
	"Spoken.answer_tokens": "the tokens of the reply", "SummaryReceipt.after": "the tokens after", "SummaryReceipt.before": "the tokens before",
	"Reliability.level": "how far the prompt can be relied on", "StatusShown.turns": "how many turns there are", "Undone.to": "the epoch that prompts went back to", "Refusal.what": "the change that is not legal",
	"DecisionChange.description": "which decision", "Settings.tools": "tools that the model may call",
}

// describe gives every property of a schema its meaning that was declared without one.
func describe(name string, schema *huma.Schema) {
	for property, of := range schema.Properties {
		if of.Description != "" || of.Ref != "" {
			continue
		}
		if own, ok := meanings[name+"."+property]; ok {
			of.Description = own
		} else {
			of.Description = meanings[property]
		}
	}
}

// examples are bodies of requests, by the id of their operation.
var examples = map[string]string{
	"appendTurns":     `{"turns":[{"role":"user","text":"Book a table for two."},{"role":"agent","text":"For when?"}]}`,
	"attachFlow":      `{"turn":"1"}`,
	"changeAction":    `{"status":"done","add_evidence":["mail to Ann"]}`,
	"changeGoal":      `{"set_milestones":[{"description":"Parser","status":"completed"}],"next_steps":["Docs"],"by":"user"}`,
	"changeNotes":     `{"put":[{"type":"note","content":"Ann prefers mornings","tags":["ann"]}]}`,
	"commit":          `{"turns":[{"role":"user","text":"I like window seats."},{"role":"agent","text":"Noted."}],"candidates":[{"type":"user_data","text":"likes window seats"}]}`,
	"compilePrompt":   `{"model":"llama3.2","context":8192,"settings":{"system":"You are a travel agent."}}`,
	"completeFlow":    `{"result":"booked"}`,
	"compress":        `{"model":"llama3.2","context":8192}`,
	"countTokens":     `{"text":"What did we decide?","model":"gpt-4o"}`,
	"createBookmark":  `{"name":"before-the-change","at":1}`,
	"createKey":       `{"name":"web site","scopes":["read","write"]}`,
	"createSession":   `{"session_id":"alice","user":"ann","title":"Travel","model":"llama3.2"}`,
	"describeSession": `{"title":"Travel in May"}`,
	"fallbackFlow":    `{"name":"ask for help"}`,
	"followUp":        `{"action":"store","session":"alice","last_intent":"create_task","last_task_id":"17","pending_fields":["due date"],"last_user_message":"Add a task."}`,
	"forgetInSession": `{"seqs":[3],"preview":true}`,
	"forgetUser":      `{"user":"ann","preview":true}`,
	"forkSession":     `{"session_id":"alice-2","at":1}`,
	"intend":          `{"goals":[{"title":"Ship the parser","by":"user"}],"actions":[{"title":"Mail Ann","by":"user"}]}`,
	"pushFlow":        `{"name":"book","slots":[{"name":"city","value":"Rome"}]}`,
	"putAction":       `{"title":"Mail Ann","owner":"user","by":"user"}`,
	"putGoal":         `{"title":"Ship the parser","add_milestones":[{"description":"Lexer"}],"by":"user"}`,
	"reportUsage":     `{"prompt_tokens":1280}`,
	"restore":         `{"snapshot":"before the change"}`,
	"say":             `{"text":"What did we decide about the seats?"}`,
	"setSlot":         `{"value":"Rome"}`,
	"stageFlow":       `{"stage":"paying"}`,
	"popFlows":        `{}`,
	"takeSnapshot":    `{"name":"before the change"}`,
	"undo":            `{}`,
}

// exemplify gives an operation the example of its body.
func exemplify(op *huma.Operation) {
	if op == nil || op.RequestBody == nil {
		return
	}
	if body, ok := op.RequestBody.Content["application/json"]; ok && examples[op.OperationID] != "" {
		body.Example = json.RawMessage(examples[op.OperationID])
	}
}
