import { unavailable } from '../../domain/errors'

/** Where a provider is, split into what may be logged and what may not. */
export interface Address {
  /** URL of a path below the base, without credentials. */
  readonly at: (path: string) => string
  /** The same, fit for a log: also without the query, in which some services take keys. */
  readonly shown: (path: string) => string
  /** Credentials of the URL as a header: `fetch` refuses URLs that hold them. */
  readonly headers: Readonly<Record<string, string>>
  /** Strings that must appear in no message and no log line. */
  readonly secrets: readonly string[]
}

/** Link-local addresses, where clouds keep the credentials of their machines; no provider is there. */
const LINK_LOCAL = /^(169\.254\.\d+\.\d+|\[fe[89ab][0-9a-f]?:.*\]|\[::ffff:a9fe:.*\])\.?$/i
const METADATA_HOST = /^(\[fd00:ec2::254\]|metadata(\.google\.internal)?|instance-data)\.?$/i
const isMetadataService = (hostname: string): boolean => LINK_LOCAL.test(hostname) || METADATA_HOST.test(hostname)

const SCHEME = /^[a-z][a-z\d+.-]*:\/\//i

const basic = (user: string, password: string): string =>
  `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`${user}:${password}`)))}`

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * @param value as configured; without a scheme it is http, as Ollama's own tools read `localhost:11434`
 * @param variable the name of the setting, for the message
 * @throws Problem unavailable that names the setting and never shows its value, which may hold a password
 */
export function parseAddress(value: string, variable: string): Address {
  const text = SCHEME.test(value) ? value : `http://${value}`
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || !/^https?:$/.test(url.protocol))
    throw unavailable(`${variable} is not a web address; write it like http://localhost:11434`)
  if (isMetadataService(url.hostname))
    throw unavailable(`${variable} is the address of a cloud's metadata service, which no model answers at`)
  const [user, password] = [decoded(url.username), decoded(url.password)]
  const authorization = user === '' && password === '' ? null : basic(user, password)
  const base = `${url.origin}${url.pathname.replace(/\/+$/, '')}`
  return {
    at: (path) => `${base}${path}${url.search}`,
    shown: (path) => `${base}${path}`,
    headers: authorization === null ? {} : { authorization },
    secrets: [url.password, password, authorization?.slice('Basic '.length) ?? '', url.search.slice(1)].filter(
      (secret) => secret !== '',
    ),
  }
}
