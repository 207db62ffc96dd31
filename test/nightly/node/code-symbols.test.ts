import { realSymbols } from '../../contracts/real-symbols'

realSymbols({ files: 320, python: 120 })
