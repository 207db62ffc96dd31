import type { CallToolResult, McpServer } from '@modelcontextprotocol/server'
import { audio, embedded, image, text } from './samples'

type Content = CallToolResult['content']

/** Tools without arguments that answer with one kind of content each. */
const CONTENT: Readonly<Record<string, Content>> = {
  test_simple_text: [text('A short answer in plain text.')],
  test_image_content: [image],
  test_audio_content: [audio],
  test_embedded_resource: [embedded('test://embedded-resource', 'text/plain', 'The words inside the resource.')],
  test_multiple_content_types: [
    text('Three kinds of content:'),
    image,
    embedded('test://mixed-content-resource', 'application/json', '{"kind":"resource"}'),
  ],
}

export function registerContentTools(server: McpServer): void {
  for (const [name, content] of Object.entries(CONTENT))
    server.registerTool(name, { description: 'Answers with a sample of its content type.' }, () => ({ content }))

  server.registerTool('test_error_handling', { description: 'Always fails.' }, () => {
    throw new Error('This tool fails on purpose')
  })
}
