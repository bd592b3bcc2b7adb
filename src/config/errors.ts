/** The config file, or an environment variable, cannot be used. The message names the place and the remedy. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
