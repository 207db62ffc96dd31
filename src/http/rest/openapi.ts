import * as z from 'zod'
import {
  createDocument,
  type ZodOpenApiOperationObject,
  type ZodOpenApiOverride,
  type ZodOpenApiPathsObject,
} from 'zod-openapi'
import type { Config } from '../../config'
import { ABOUT } from '../../domain/about'
import { PROBLEM_CODES } from '../../domain/errors'
import { perObject } from '../../domain/per-object'
import { enabledOf } from '../../tools/catalogue'
import { OPERATIONS, type Operation } from './operations'

/** The OpenAPI document of the REST interface, made from the schemas of the tools (platform contract §9). */

export const OPENAPI_PATH = '/api/v1/openapi.json'
const BASE = '/api/v1/orgs/{org}'

const org = z.string().meta({ description: 'Name of the organization of the key, or "-"', example: '-' })
const entryId = z.int().min(1).meta({ description: 'ID of the memory' })
const idempotencyKey = z
  .string()
  .optional()
  .meta({ description: 'Makes retries safe: the same call gets the first answer again' })

const failure = z
  .looseObject({
    error: z.looseObject({
      code: z.enum(PROBLEM_CODES),
      message: z.string(),
      retryable: z.boolean(),
      details: z.unknown().optional().meta({ description: 'The exact error: a list of wrong arguments, or an object' }),
    }),
  })
  .meta({ id: 'Error' })

const FAILURES = {
  '400': 'invalid_input: an argument is wrong or missing',
  '401': 'unauthorized: the key is missing, unknown or expired',
  '403': 'forbidden: the role or the projects of the key do not allow it',
  '404': 'not_found: no such memory or organization for this key',
  '409': 'conflict: another version, or an Idempotency-Key of another call',
  '413': 'limit_exceeded: the request is too large',
  '429': 'limit_exceeded or unavailable until the time in Retry-After',
  '501': 'unsupported: the server does not offer it',
  '503': 'unavailable: try again later',
} as const

const projectList = z.looseObject({
  projects: z.array(z.looseObject({ key: z.string(), name: z.string().nullable(), entries: z.int() })),
})

/** Returns the arguments that a request names, without those of its path and headers. */
function argumentsOf({ tool, from, address, without = [] }: Operation): z.ZodObject {
  const hidden = [...(address === undefined ? [] : [address]), ...without, 'idempotency_key']
  const shape = Object.entries(tool.schemas.input.shape)
    .filter(([name]) => !hidden.includes(name))
    .map(([name, schema]) => [name, from === 'query' ? inQuery(schema as z.ZodType) : schema])
  return z.strictObject(Object.fromEntries(shape))
}

/** Returns the schema of an argument in a query, which carries an object as JSON text. */
function inQuery(schema: z.ZodType): z.ZodType {
  const { type, description = '' } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  if (type !== 'object') return schema
  return z
    .string()
    .optional()
    .meta({ description: `${description} (JSON)`, contentMediaType: 'application/json' })
}

const inJson = (schema: z.ZodType) => ({ content: { 'application/json': { schema } } })

const failures = Object.fromEntries(
  Object.entries(FAILURES).map(([status, description]) => [status, { description, ...inJson(failure) }]),
)

const PROJECTS: ZodOpenApiOperationObject = {
  operationId: 'listProjects',
  summary: 'List the projects of the key',
  responses: { '200': { description: 'Done', ...inJson(projectList) }, ...failures },
}

function describe(operation: Operation): ZodOpenApiOperationObject {
  const { id, tool, from, address, summary } = operation
  const args = argumentsOf(operation)
  const content = inJson(tool.schemas.output)
  const isChanges = tool.name === 'changes'
  return {
    operationId: id,
    summary,
    description: isChanges
      ? 'Send `Accept: application/json`. Without it the address is the change feed, as lines or as a stream of events.'
      : tool.description,
    requestParams: {
      path: z.object({ org, ...(address === undefined ? {} : { id: entryId }) }),
      ...(from === 'query' ? { query: args } : {}),
      ...(tool.annotations.readOnlyHint ? {} : { header: z.object({ 'Idempotency-Key': idempotencyKey }) }),
    },
    ...(from === 'body' ? { requestBody: { required: true, ...inJson(args) } } : {}),
    responses: {
      ...(id === 'storeEntry'
        ? {
            '200': { description: 'An equal memory exists, or the call is repeated', ...content },
            '201': { description: 'Stored', headers: z.object({ Location: z.string() }), ...content },
          }
        : { '200': { description: 'Done', ...content } }),
      ...failures,
    },
  }
}

/** Removes the bounds that every integer of JSON has, and required members of results: lean results leave out empty members. */
const simplified: ZodOpenApiOverride = ({ jsonSchema, io }) => {
  if (io === 'output') delete jsonSchema.required
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
}

/** Makes the document with the operations that the configuration does not switch off. */
export const openApiDocument = perObject((config: Config) => {
  const paths: ZodOpenApiPathsObject = { '/api/v1/projects': { get: PROJECTS } }
  for (const operation of OPERATIONS) {
    if (enabledOf(config, [operation.tool]).length === 0) continue
    const path = `${BASE}${operation.path.replace(':id', '{id}')}`
    paths[path] = { ...paths[path], [operation.method]: describe(operation) }
  }
  return createDocument(
    {
      openapi: '3.1.1',
      info: { title: ABOUT.title, version: ABOUT.version, description: ABOUT.description },
      servers: [{ url: '/' }],
      security: config.authMode === 'open' ? [] : [{ key: [] }],
      components: {
        securitySchemes: { key: { type: 'http', scheme: 'bearer', description: 'A key of the organization' } },
      },
      paths,
    },
    { override: simplified },
  )
})
