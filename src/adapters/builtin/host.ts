import type { ModelState } from '../../domain/meaning/hosted-model'

/** The service binding behind which the process that serves runs a model; only `npm start` and its kin have it. */
export type ModelService = Pick<Fetcher, 'fetch'>

/** @returns the state that the process reports of its model; unavailable when it does not answer */
export async function modelState(service: ModelService): Promise<ModelState> {
  try {
    const response = await service.fetch('http://model/state')
    return (await response.json()) as ModelState
  } catch (error) {
    return { state: 'unavailable', name: '', problem: `The process of the model does not answer (${String(error)})` }
  }
}
