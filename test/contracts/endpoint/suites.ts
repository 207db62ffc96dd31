import { imageContract } from './images'
import { longEntriesContract } from './long-entries'
import { meaningContract } from './meaning'
import { protocolContract } from './protocol'
import { readingContract } from './reading'
import { resourceContract } from './resources'
import { searchingContract } from './searching'
import { writingContract } from './writing'

/** Tests for every client of the endpoint. */
export const ENDPOINT_SUITES = [
  protocolContract,
  writingContract,
  imageContract,
  readingContract,
  resourceContract,
  searchingContract,
  longEntriesContract,
  meaningContract,
]
