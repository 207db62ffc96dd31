// Reads Claude: conversations.json of a data export (docs/import/chats.md).
import { type JsonObject, type JsonValue, own } from '../../domain/entry/metadata'
import { chatFiles } from './chatgpt'
import { Collector, type Found } from './collector'
import { isJsonObject, RowProblem, shown, textOf, timeOfText } from './values'

const SENDERS: Readonly<Record<string, 'user' | 'agent'>> = { human: 'user', assistant: 'agent' }

export async function readClaudeChats(path: string): Promise<Collector> {
  const collector = new Collector()
  let number = 0
  for (const { chats } of chatFiles(collector, path, /^conversations(-\d+)?\.json$/))
    for (const chat of chats) {
      const where = `chat ${++number}`
      try {
        if (!isJsonObject(chat)) throw new RowProblem('is not a JSON object')
        takeChat(collector, where, chat)
      } catch (error) {
        if (!(error instanceof RowProblem)) throw error
        collector.refuse(where, error.message)
      }
    }
  return collector
}

function takeChat(collector: Collector, where: string, chat: JsonObject): void {
  const id = textOf(own(chat, 'uuid'))
  const messages = own(chat, 'chat_messages')
  if (id === null) throw new RowProblem('has no uuid')
  if (!Array.isArray(messages)) throw new RowProblem('has no chat_messages')
  if (messages.length === 0) collector.skip('chats without messages')
  try {
    timeOfText(own(chat, 'created_at'), 'created_at')
  } catch (error) {
    if (!(error instanceof RowProblem)) throw error
    // Each message has its own time.
    collector.note(where, error.message)
  }
  for (const [i, message] of messages.entries()) {
    const name = `${where}, message ${i + 1}`
    collector.take(name, () => messageOf(collector, name, id, textOf(own(chat, 'name')), message))
  }
}

function messageOf(
  collector: Collector,
  name: string,
  chat: string,
  title: string | null,
  message: JsonValue,
): Omit<Found, 'where'> | null {
  if (!isJsonObject(message)) throw new RowProblem('is not a JSON object')
  const id = textOf(own(message, 'uuid'))
  const sender = textOf(own(message, 'sender'))
  const source = sender === null ? undefined : SENDERS[sender]
  if (id === null) throw new RowProblem('has no uuid')
  if (source === undefined) throw new RowProblem(`is of an unknown sender: ${shown(sender)}`)
  const files = named(own(message, 'files'))
  const attached = attachments(own(message, 'attachments'))
  const text = [said(message), ...attached].filter((part) => part.trim() !== '').join('\n\n')
  if (files.length > 0) collector.note(name, `files without bytes in the export: ${files.join(', ')}`)
  if (text === '') {
    collector.skip('messages without text')
    return null
  }
  return {
    id,
    threadId: chat,
    source,
    text,
    metadata: { ...(title === null ? {} : { title }), ...(files.length === 0 ? {} : { files }) },
    createdAt: timeOfText(own(message, 'created_at'), 'created_at'),
  }
}

/** Returns the text blocks, or the older `text` where there are none. Tool calls and their results are left out. */
function said(message: JsonObject): string {
  const content = own(message, 'content')
  const blocks = (Array.isArray(content) ? content : []).flatMap((block) =>
    isJsonObject(block) && own(block, 'type') === 'text' ? (textOf(own(block, 'text')) ?? []) : [],
  )
  return blocks.length > 0 ? blocks.join('\n') : (textOf(own(message, 'text')) ?? '')
}

const named = (files: JsonValue | undefined): string[] =>
  (Array.isArray(files) ? files : []).flatMap((file) =>
    isJsonObject(file) ? (textOf(own(file, 'file_name')) ?? []) : [],
  )

/** Returns the extracted text of attachments, each below its name. */
const attachments = (list: JsonValue | undefined): string[] =>
  (Array.isArray(list) ? list : []).flatMap((one) => {
    const text = isJsonObject(one) ? textOf(own(one, 'extracted_content')) : null
    return text === null || !isJsonObject(one) ? [] : [`${textOf(own(one, 'file_name')) ?? 'attachment'}:\n${text}`]
  })
