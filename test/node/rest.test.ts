import { restContract } from '../contracts/endpoint/rest'

restContract()
