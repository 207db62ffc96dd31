import { currencyContract } from '../contracts/currency'

currencyContract()
