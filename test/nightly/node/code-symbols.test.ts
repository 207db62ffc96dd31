import { realSymbols } from '../../contracts/real-symbols'

realSymbols(320)
