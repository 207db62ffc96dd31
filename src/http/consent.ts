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

/** The name of a question in the answers of a client. A question about other memories has another name, also where it reads the same. */
const nameOf = async ({ question, about }: ConsentNeeded): Promise<string> =>
  `consent-${(await sha256Hex(JSON.stringify([question, about]))).slice(0, 16)}`

/** Checks the answers of a client (`inputResponses`) for the consent of a person. */
export const consentIn =
  ({ mcpReq }: ServerContext): AskConsent =>
  async (question, about) => {
    const needed = new ConsentNeeded(question, about)
    const name = await nameOf(needed)
    const view = inputResponse(mcpReq.inputResponses, name)
    if (view.kind === 'missing') throw needed
    if (acceptedContent(mcpReq.inputResponses, name, CONSENT)?.confirm !== true)
      throw new Problem('forbidden', 'The person declined; nothing was changed')
  }

/** The answer to a call that needs consent. */
export const questionOf = async (needed: ConsentNeeded): Promise<InputRequiredResult> =>
  inputRequired({
    inputRequests: {
      [await nameOf(needed)]: inputRequired.elicit({ message: needed.question, requestedSchema: CONSENT }),
    },
  })
