import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { PinnedModel } from '../../src/cli/models/catalogue.mjs'

/** A server with the paths of the Hugging Face Hub, on loopback. */
export interface ModelMirror {
  /** For MODEL_URL. */
  readonly url: string
  /** Each request: path, requested range and credentials. */
  readonly asked: {
    readonly path: string
    readonly range: string | undefined
    readonly authorization: string | undefined
  }[]
  /** Breaks the connection after these numbers of bytes of a file, once each. */
  readonly cuts: number[]
  /** Served instead of the files. */
  readonly served: Map<string, Buffer>
  stop(): Promise<void>
}

/** @param files files by purpose */
export async function startMirror(
  { repository, revision, files: pins }: PinnedModel,
  files: { readonly model: Buffer; readonly tokenizer: Buffer },
): Promise<ModelMirror> {
  const at = (path: string) => `/${repository}/resolve/${revision}/${path}`
  const served = new Map([
    [at(pins.model.path), files.model],
    [at(pins.tokenizer.path), files.tokenizer],
  ])
  const asked: { path: string; range: string | undefined; authorization: string | undefined }[] = []
  const cuts: number[] = []
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const path = request.url ?? ''
    const { range, authorization } = request.headers
    asked.push({ path, range, authorization })
    // Like the Hub: the address of a repository redirects to the storage.
    if (!path.startsWith('/storage')) return void response.writeHead(302, { location: `/storage${path}` }).end()
    const content = served.get(path.slice('/storage'.length))
    if (content === undefined) return void response.writeHead(404).end()
    const from = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0)
    const rest = content.subarray(from)
    response.writeHead(from > 0 ? 206 : 200, {
      'content-length': rest.length,
      etag: '"one"',
      ...(from > 0 && { 'content-range': `bytes ${from}-${content.length - 1}/${content.length}` }),
    })
    const cut = cuts.shift()
    if (cut === undefined) return void response.end(rest)
    response.write(rest.subarray(0, cut), () => response.destroy())
  }
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ asked, cuts, served },
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  }
}
