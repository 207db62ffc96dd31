import {
  acceptedContent,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { Problem } from '../domain/errors'
import { sha256Hex } from '../domain/text'
import { ConsentNeeded } from '../tools/consent'
import type { AskConsent } from '../tools/context'

/** Questions to a person by `input_required` of the revision 2026-07-28. Clients of earlier revisions are not asked. */

/** The form of a question: a person ticks it, so that a client cannot answer yes by sending an empty form. */
const CONSENT = z.object({ confirm: z.boolean().meta({ title: 'Yes', description: 'Carry it out' }) })

/** The name of a question in the answers of a client. Another question, after a change of the memories, has another name. */
const nameOf = async (question: string): Promise<string> => `consent-${(await sha256Hex(question)).slice(0, 16)}`

/** Checks the answers of a client (`inputResponses`) for the consent of a person. */
export const consentIn =
  ({ mcpReq }: ServerContext): AskConsent =>
  async (question) => {
    const name = await nameOf(question)
    const view = inputResponse(mcpReq.inputResponses, name)
    if (view.kind === 'missing') throw new ConsentNeeded(question)
    if (acceptedContent(mcpReq.inputResponses, name, CONSENT)?.confirm !== true)
      throw new Problem('forbidden', 'The person declined; nothing was changed')
  }

/** The answer to a call that needs consent. */
export const questionOf = async ({ question }: ConsentNeeded): Promise<InputRequiredResult> =>
  inputRequired({
    inputRequests: { [await nameOf(question)]: inputRequired.elicit({ message: question, requestedSchema: CONSENT }) },
  })
