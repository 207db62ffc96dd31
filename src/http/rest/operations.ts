import { changes } from '../../tools/core/changes'
import { context } from '../../tools/core/context'
import { fetch } from '../../tools/core/fetch'
import { forget } from '../../tools/core/forget'
import { history } from '../../tools/core/history'
import { remember } from '../../tools/core/remember'
import { restore } from '../../tools/core/restore'
import { search } from '../../tools/core/search'
import { update } from '../../tools/core/update'
import type { Tool } from '../../tools/define-tool'

/** An operation of the REST interface: one core tool at one address (platform contract §9). */
export interface Operation {
  /** Name in the OpenAPI document. */
  readonly id: string
  readonly method: 'get' | 'post' | 'patch' | 'delete'
  /** The path below `/api/v1/orgs/:org`. */
  readonly path: string
  readonly tool: Tool
  /** Where the request carries the arguments of the tool. */
  readonly from: 'query' | 'body'
  /** The argument that `:id` of the path is. */
  readonly address?: 'id' | 'ids'
  /** Arguments that do not belong to this address and are not documented here. */
  readonly without?: readonly string[]
  readonly summary: string
}

export const OPERATIONS: readonly Operation[] = [
  {
    ...{ id: 'storeEntry', method: 'post', path: '/entries', tool: remember, from: 'body' },
    summary: 'Store a memory',
  },
  {
    ...{ id: 'listEntries', method: 'get', path: '/entries', tool: search, from: 'query' },
    without: ['query', 'mode', 'explain'],
    summary: 'List memories, newest first',
  },
  {
    ...{ id: 'deleteEntries', method: 'delete', path: '/entries', tool: forget, from: 'query' },
    summary: 'Delete several memories',
  },
  {
    ...{ id: 'readEntry', method: 'get', path: '/entries/:id', tool: fetch, from: 'query', address: 'id' },
    without: ['ids'],
    summary: 'Read a memory',
  },
  {
    ...{ id: 'updateEntry', method: 'patch', path: '/entries/:id', tool: update, from: 'body', address: 'id' },
    summary: 'Update a memory',
  },
  {
    ...{ id: 'deleteEntry', method: 'delete', path: '/entries/:id', tool: forget, from: 'query', address: 'ids' },
    without: ['thread', 'filter'],
    summary: 'Delete a memory',
  },
  {
    ...{ id: 'readHistory', method: 'get', path: '/entries/:id/history', tool: history, from: 'query', address: 'id' },
    summary: 'List the versions of a memory',
  },
  {
    ...{ id: 'restoreEntries', method: 'post', path: '/restore', tool: restore, from: 'body' },
    summary: 'Restore deleted memories or an earlier version',
  },
  {
    ...{ id: 'readEntries', method: 'get', path: '/fetch', tool: fetch, from: 'query' },
    summary: 'Read several memories',
  },
  {
    ...{ id: 'search', method: 'get', path: '/search', tool: search, from: 'query' },
    summary: 'Search memories',
  },
  {
    ...{ id: 'searchByBody', method: 'post', path: '/search', tool: search, from: 'body' },
    summary: 'Search memories, with the arguments as JSON',
  },
  {
    ...{ id: 'getContext', method: 'get', path: '/context', tool: context, from: 'query' },
    summary: 'Get the memories that matter for a goal',
  },
  {
    ...{ id: 'getContextByBody', method: 'post', path: '/context', tool: context, from: 'body' },
    summary: 'Get the memories that matter for a goal, with the arguments as JSON',
  },
  {
    ...{ id: 'listChanges', method: 'get', path: '/changes', tool: changes, from: 'query' },
    summary: 'List changes of memories',
  },
]
