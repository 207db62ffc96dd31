import { Problem } from '../../domain/errors'
import { readBytes, readForm } from '../oauth/form'

/** What forms bring: how much of it is taken, and whether it comes from a page of ours. */

/** Bytes of a form: a text of 1,000,000 bytes has up to three times as many, encoded, and metadata stand beside. */
const MAX_FORM_BYTES = 4_000_000

/** Bytes of a form with a file, which stands in memory twice: a volume of an export as it is, or many of them packed. */
const MAX_FILE_BYTES = 20_000_000

export interface Sent {
  readonly form: URLSearchParams
  /** Null where the form brings none, or is not to bring one. */
  readonly file: Blob | null
}

const typeOf = (request: Request): string => request.headers.get('content-type') ?? ''
const isPlain = (request: Request): boolean => /^application\/x-www-form-urlencoded\b/i.test(typeOf(request))
const isWithFile = (request: Request): boolean => /^multipart\/form-data\b/i.test(typeOf(request))

/** @param takesFile whether this one may bring a file */
export const isForm = (request: Request, takesFile = false): boolean =>
  request.method === 'POST' && (isPlain(request) || (takesFile && isWithFile(request)))

const tooLarge = (most: number) => new Problem('limit_exceeded', `A form holds at most ${most} bytes here`)

async function readParts(request: Request): Promise<Sent> {
  const bytes = await readBytes(request, MAX_FILE_BYTES)
  if (bytes === null) throw tooLarge(MAX_FILE_BYTES)
  const parts = await new Response(bytes, { headers: { 'Content-Type': typeOf(request) } }).formData().catch(() => {
    throw new Problem('invalid_input', 'The form is cut or altered; send it once more')
  })
  const form = new URLSearchParams()
  let file: Blob | null = null
  for (const [name, value] of parts)
    if (typeof value === 'string') form.append(name, value)
    else if (value.size > 0) file = value
  return { form, file }
}

/** What was sent; nothing for what is no form. @throws Problem limit_exceeded, invalid_input */
export async function readSent(request: Request): Promise<Sent> {
  if (request.method !== 'POST') return { form: new URLSearchParams(), file: null }
  if (isWithFile(request)) return readParts(request)
  const form = await readForm(request, MAX_FORM_BYTES)
  if (form === null) throw tooLarge(MAX_FORM_BYTES)
  return { form, file: null }
}

/** Whether a form was sent by a page of ours, to the session that it was made for. */
export const isOurs = (request: Request, { origin: own }: URL, form: URLSearchParams, token: string): boolean => {
  const origin = request.headers.get('origin')
  return (origin === null || origin === own) && form.get('token') === token
}

export const STALE =
  'This form was made for another session, or your browser keeps no cookies. Go back, load the page again and send it once more.'
