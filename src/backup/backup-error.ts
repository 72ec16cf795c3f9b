/** A reason why a backup cannot be written, read or restored: sentences for the operator, without secrets. */
export class BackupError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'BackupError';
  }
}
