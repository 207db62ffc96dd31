import { completable, type McpServer, ResourceTemplate } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { embedded, image, PNG, text } from './samples'

/** What can be read: words, bytes, and a family of addresses. */
export function registerResources(server: McpServer): void {
  const add = (name: string, uri: string, mimeType: string, body: { text: string } | { blob: string }) =>
    server.registerResource(name, uri, { description: 'A sample resource.', mimeType }, () => ({
      contents: [{ uri, mimeType, ...body }],
    }))

  add('static-text', 'test://static-text', 'text/plain', { text: 'The words of a resource that never changes.' })
  add('static-binary', 'test://static-binary', 'image/png', { blob: PNG })
  add('watched-resource', 'test://watched-resource', 'text/plain', { text: 'A resource to subscribe to.' })

  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { description: 'One resource for each id.', mimeType: 'application/json' },
    (uri, { id }) => ({
      contents: [{ uri: uri.href, mimeType: 'application/json', text: JSON.stringify({ id }) }],
    }),
  )
}

export function registerPrompts(server: McpServer): void {
  const user = 'user' as const

  server.registerPrompt('test_simple_prompt', { description: 'A prompt without arguments.' }, () => ({
    messages: [{ role: user, content: text('A simple question.') }],
  }))

  const arg1 = completable(z.string().describe('First word'), (begun) =>
    ['paris', 'park', 'party', 'test'].filter((word) => word.startsWith(begun)),
  )
  server.registerPrompt(
    'test_prompt_with_arguments',
    {
      description: 'A prompt of two words.',
      argsSchema: z.object({ arg1, arg2: z.string().describe('Second word') }),
    },
    (words) => ({ messages: [{ role: user, content: text(`Compare ${words.arg1} and ${words.arg2}.`) }] }),
  )

  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    {
      description: 'A prompt about a resource.',
      argsSchema: z.object({ resourceUri: z.string().describe('Address of the resource') }),
    },
    ({ resourceUri }) => ({
      messages: [
        { role: user, content: embedded(resourceUri, 'text/plain', 'The words inside the resource.') },
        { role: user, content: text('Summarize the resource above.') },
      ],
    }),
  )

  server.registerPrompt('test_prompt_with_image', { description: 'A prompt about an image.' }, () => ({
    messages: [
      { role: user, content: image },
      { role: user, content: text('Describe the image above.') },
    ],
  }))
}
