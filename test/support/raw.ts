import { request as httpRequest } from 'node:http'
import type { RunningServer } from './server'

export interface Raw {
  readonly status: number
  readonly headers: Record<string, unknown>
  readonly text: string
}

/** Sends headers that fetch does not allow. */
export function raw(
  server: Pick<RunningServer, 'url'>,
  path: string,
  method: string,
  headers: Record<string, string>,
  body = '',
): Promise<Raw> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(new URL(path, server.url.href).href, { method, headers }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
