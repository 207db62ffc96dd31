import { Problem } from '../../domain/errors'
import { readBytes, readForm } from '../oauth/form'

/** Reads submitted forms within a size limit, and checks that they come from our own pages. */

/** Limit of a form in bytes: a text of 1,000,000 bytes takes up to three times as many when encoded, plus its metadata. */
const MAX_FORM_BYTES = 4_000_000

/** Limit of a form with a file in bytes, which is in memory twice: one plain volume of an export, or many compressed ones. */
const MAX_FILE_BYTES = 20_000_000

export interface Sent {
  readonly form: URLSearchParams
  /** Null where the form has no file, or may not have one. */
  readonly file: Blob | null
}

const typeOf = (request: Request): string => request.headers.get('content-type') ?? ''
const isPlain = (request: Request): boolean => /^application\/x-www-form-urlencoded\b/i.test(typeOf(request))
const isWithFile = (request: Request): boolean => /^multipart\/form-data\b/i.test(typeOf(request))

/** @param takesFile whether this form may contain a file */
export const isForm = (request: Request, takesFile = false): boolean =>
  request.method === 'POST' && (isPlain(request) || (takesFile && isWithFile(request)))

const tooLarge = (most: number) => new Problem('limit_exceeded', `The form is larger than ${most} bytes`)

async function readParts(request: Request): Promise<Sent> {
  const bytes = await readBytes(request, MAX_FILE_BYTES)
  if (bytes === null) throw tooLarge(MAX_FILE_BYTES)
  const parts = await new Response(bytes, { headers: { 'Content-Type': typeOf(request) } }).formData().catch(() => {
    throw new Problem('invalid_input', 'The form is truncated or altered; submit it again')
  })
  const form = new URLSearchParams()
  let file: Blob | null = null
  for (const [name, value] of parts)
    if (typeof value === 'string') form.append(name, value)
    else if (value.size > 0) file = value
  return { form, file }
}

/** Returns the submitted fields; empty if the body is not a form. @throws Problem limit_exceeded, invalid_input */
export async function readSent(request: Request): Promise<Sent> {
  if (request.method !== 'POST') return { form: new URLSearchParams(), file: null }
  if (isWithFile(request)) return readParts(request)
  const form = await readForm(request, MAX_FORM_BYTES)
  if (form === null) throw tooLarge(MAX_FORM_BYTES)
  return { form, file: null }
}

/** Returns whether a form was sent by one of our pages, to the session that it was made for. */
export const isOurs = (request: Request, { origin: own }: URL, form: URLSearchParams, token: string): boolean => {
  const origin = request.headers.get('origin')
  return (origin === null || origin === own) && form.get('token') === token
}

export const STALE =
  'This form belongs to another session, or your browser blocks cookies. Go back, reload the page and submit it again.'
