import { describe } from 'vitest'
import { imageContract } from '../contracts/endpoint/images'
import { longEntriesContract } from '../contracts/endpoint/long-entries'
import { meaningContract } from '../contracts/endpoint/meaning'
import { protocolContract } from '../contracts/endpoint/protocol'
import { readingContract } from '../contracts/endpoint/reading'
import { resourceContract } from '../contracts/endpoint/resources'
import { searchingContract } from '../contracts/endpoint/searching'
import { writingContract } from '../contracts/endpoint/writing'
import { CLIENTS } from '../support/clients'

for (const [name, connect] of Object.entries(CLIENTS)) {
  describe(name, () => {
    protocolContract(connect)
    writingContract(connect)
    imageContract(connect)
    readingContract(connect)
    resourceContract(connect)
    searchingContract(connect)
    longEntriesContract(connect)
    meaningContract(connect)
  })
}
