import { hooksContract } from '../../contracts/hooks'

hooksContract(true, 2)
