import { invalidInput, limitExceeded } from '../errors'
import { Inspection } from '../flaws'
import { MAX_DEPTH } from '../json/unkept'
import { audienceOf, diaryOf, expiryOf, isCaptured } from './lifted-metadata'
import { checkMetadataSize, isDeeper, type Metadata, own } from './metadata'

function checkCaptured(metadata: Metadata): void {
  const value = own(metadata, 'captured')
  if (value !== undefined && value !== null && typeof value !== 'boolean')
    throw invalidInput('metadata.captured must be true or false')
}

/** @throws Problem invalid_input when metadata call themselves captured, which what hooks gather alone is */
export function checkUncaptured(metadata: Metadata | null): void {
  if (isCaptured(metadata))
    throw invalidInput('metadata.captured is reserved for what the hooks of clients capture; leave it out')
}

/** @throws Problem limit_exceeded when the object is too large or nested too deep */
export function checkMetadata(metadata: Metadata, name = 'metadata'): void {
  if (isDeeper(metadata, MAX_DEPTH)) throw limitExceeded(`${name} is nested deeper than ${MAX_DEPTH} levels`)
  checkMetadataSize(metadata, name)
  checkProtection(metadata)
}

/** The keys that protect an entry fail closed, all of them told. @throws Problem */
function checkProtection(metadata: Metadata): void {
  const wrong = new Inspection()
  wrong.check('metadata.audience', own(metadata, 'audience'), () => audienceOf(metadata))
  wrong.check('metadata.captured', own(metadata, 'captured'), () => checkCaptured(metadata))
  wrong.check('metadata.diary', own(metadata, 'diary'), () => diaryOf(metadata))
  wrong.check('metadata.expires_at', own(metadata, 'expires_at'), () => expiryOf(metadata))
  wrong.end()
}
