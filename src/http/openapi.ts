import { OpenApiBuilder, type OperationObject, type ParameterObject, type SchemaObject } from 'openapi3-ts/oas31'
import { ABOUT } from '../domain/about'
import { PROBLEM_CODES } from '../domain/errors'
import type { JsonSchema } from '../tools/json-schema'
import { acceptedBy, OPERATIONS, type Operation } from './rest'

/** The OpenAPI 3.1 document of the REST routes, whose schemas are those of the core tools. */

const ORG: ParameterObject = {
  ...{ name: 'org', in: 'path', required: true, schema: { type: 'string' } },
  description: 'The ID of the organization, or "-" for that of the key',
}
const ID: ParameterObject = { name: 'id', in: 'path', required: true, schema: { type: 'integer', minimum: 1 } }
const KEY: ParameterObject = {
  ...{ name: 'Idempotency-Key', in: 'header', schema: { type: 'string' } },
  description: 'A repeated request with this key gets the first answer and changes nothing',
}
const schemaOf = (schema: JsonSchema): SchemaObject => schema as SchemaObject
const json = (schema: SchemaObject) => ({ 'application/json': { schema } })

const parametersOf = (operation: Operation): ParameterObject[] => {
  const accepted = acceptedBy(operation)
  const query =
    operation.from === 'body'
      ? []
      : Object.entries(accepted).map(
          ([name, schema]): ParameterObject => ({
            ...{ name, in: 'query', schema: schemaOf(schema) },
            // Lists are repeated or separated by commas; objects are JSON.
            ...(schema.type === 'array' ? { style: 'form', explode: false } : {}),
            ...(typeof schema.description === 'string' ? { description: schema.description } : {}),
          }),
        )
  return [
    ORG,
    ...(operation.path.includes(':id') ? [ID] : []),
    ...(Object.hasOwn(accepted, 'idempotency_key') ? [KEY] : []),
    ...query,
  ]
}

function operationOf(operation: Operation): OperationObject {
  const { method, path, summary, tool, from } = operation
  const accepted = acceptedBy(operation)
  const required = ((tool.inputSchema.required ?? []) as string[]).filter((name) => Object.hasOwn(accepted, name))
  const answer = { description: 'Success', content: json(schemaOf(tool.outputSchema)) }
  return {
    operationId: `${method}${path.replace(/[^a-z]+(.)?/g, (_, letter: string = '') => letter.toUpperCase())}`,
    ...{
      summary,
      description: tool.description,
      tags: [path.split('/')[1] ?? ''],
      parameters: parametersOf(operation),
    },
    ...(from === 'body' && {
      requestBody: {
        required: true,
        content: json({
          type: 'object',
          properties: accepted as Record<string, SchemaObject>,
          required,
          additionalProperties: false,
        }),
      },
    }),
    responses: {
      '200': answer,
      ...(method === 'post' && path === '/entries' ? { '201': { ...answer, description: 'Stored' } } : {}),
      default: { $ref: '#/components/responses/Problem' },
    },
  }
}

/** Makes the document. @param origin the origin of the server, for `servers` */
export function openApi(origin: string) {
  const builder = OpenApiBuilder.create({
    openapi: '3.1.0',
    info: {
      title: ABOUT.title,
      version: ABOUT.version,
      description: ABOUT.description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    paths: {},
    servers: [{ url: `${origin}/api/v1/orgs` }],
    security: [{ bearer: [] }],
  })
  builder.addSecurityScheme('bearer', { type: 'http', scheme: 'bearer', description: 'A key: commonplace keys create' })
  builder.addSchema('Problem', {
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['code', 'message', 'retryable'],
        properties: {
          code: { type: 'string', enum: [...PROBLEM_CODES] },
          message: { type: 'string' },
          retryable: { type: 'boolean', description: 'Whether the same request can succeed later' },
          details: { description: 'More about the error' },
        },
      },
    },
  })
  builder.addResponse('Problem', {
    description: 'The request was refused and changed nothing',
    content: json({ $ref: '#/components/schemas/Problem' } as SchemaObject),
  })
  for (const path of new Set(OPERATIONS.map((one) => one.path)))
    builder.addPath(
      `/{org}${path.replace(':id', '{id}')}`,
      Object.fromEntries(OPERATIONS.filter((one) => one.path === path).map((one) => [one.method, operationOf(one)])),
    )
  builder.addPath('/{org}/changes', {
    get: {
      ...{ operationId: 'getChanges', summary: 'The change feed', tags: ['changes'] },
      description:
        'Lines of JSON; with `Accept: text/event-stream` a live stream. `X-Next-Cursor` is the next `after`.',
      parameters: [
        ORG,
        ...['after', 'thread_id', 'project', 'actions', 'limit'].map(
          (name): ParameterObject => ({ name, in: 'query', schema: { type: name === 'limit' ? 'integer' : 'string' } }),
        ),
      ],
      responses: {
        '200': {
          description: 'Success',
          content: {
            'application/x-ndjson': { schema: { type: 'string' } },
            'text/event-stream': { schema: { type: 'string' } },
          },
        },
        default: { $ref: '#/components/responses/Problem' },
      },
    },
  })
  builder.addPath('/{org}/projects', {
    get: {
      ...{ operationId: 'getProjects', summary: 'Projects, for administrators', tags: ['projects'], parameters: [ORG] },
      responses: {
        '200': {
          description: 'Success',
          content: json({ type: 'object', properties: { projects: { type: 'array', items: { type: 'object' } } } }),
        },
        default: { $ref: '#/components/responses/Problem' },
      },
    },
  })
  return builder.getSpec()
}
