import { jsonSchema, tool } from 'ai'

/** Operations that an agent needs, each with the name of its tool in the core family. */
const NAMES = {
  'post /{org}/context': 'context',
  'post /{org}/entries': 'remember',
  'post /{org}/search': 'search',
  'get /{org}/entries/{id}': 'fetch',
  'patch /{org}/entries/{id}': 'update',
  'delete /{org}/entries/{id}': 'forget',
}

/** Returns the JSON Schema of all arguments of an operation: those of its path, its query and its body. */
function schemaOf({ parameters = [], requestBody }) {
  const named = parameters.filter(({ in: place, name }) => place === 'query' || (place === 'path' && name !== 'org'))
  const body = requestBody?.content['application/json'].schema ?? {}
  return {
    type: 'object',
    properties: { ...Object.fromEntries(named.map(({ name, schema }) => [name, schema])), ...body.properties },
    required: [...named.filter(({ required }) => required).map(({ name }) => name), ...(body.required ?? [])],
    additionalProperties: false,
  }
}

/** Sends a call. A refusal is returned, so that the model can correct its arguments. */
async function send({ url, key }, method, path, hasBody, { id, ...args }, abortSignal) {
  const address = new URL(`/api/v1/orgs${path.replace('{org}', '-').replace('{id}', encodeURIComponent(id))}`, url)
  const given = Object.entries(args).filter(([, value]) => value !== undefined)
  if (!hasBody)
    for (const [name, value] of given)
      address.searchParams.set(name, typeof value === 'object' ? JSON.stringify(value) : String(value))
  const response = await fetch(address, {
    method: method.toUpperCase(),
    signal: abortSignal,
    headers: { 'content-type': 'application/json', ...(key ? { authorization: `Bearer ${key}` } : {}) },
    ...(hasBody ? { body: JSON.stringify(Object.fromEntries(given)) } : {}),
  })
  return response.json()
}

/**
 * Returns the memory tools of a Commonplace server for the AI SDK, made from its OpenAPI document.
 *
 * @example
 * const tools = await commonplaceTools({ url: 'http://localhost:8787', key: process.env.COMMONPLACE_KEY })
 * await generateText({ model, tools, prompt, stopWhen: stepCountIs(5) })
 */
export async function commonplaceTools(server) {
  const { paths } = await (await fetch(new URL('/api/v1/openapi.json', server.url))).json()
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  return Object.fromEntries(
    operations
      .filter(({ path, method }) => Object.hasOwn(NAMES, `${method} ${path}`))
      .map(({ path, method, operation }) => [
        NAMES[`${method} ${path}`],
        tool({
          description: operation.description,
          inputSchema: jsonSchema(schemaOf(operation)),
          execute: (args, { abortSignal }) =>
            send(server, method, path, operation.requestBody !== undefined, args, abortSignal),
        }),
      ]),
  )
}
