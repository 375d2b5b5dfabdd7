/**
 * Temporal for a Node that has none yet; 26 is the first that has. Loaded where it is missing only.
 */
import { installImplementation } from 'temporal-polyfill/shim'

installImplementation()
