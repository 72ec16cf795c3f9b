/** The reason why a program was not installed or removed. */
export type ProgramErrorCode =
  | 'UNKNOWN_AGENT'
  | 'SWITCHED_OFF'
  | 'BUSY'
  | 'NO_NPM'
  | 'NO_PLATFORM'
  | 'NOT_REACHABLE'
  | 'NOT_FOUND'
  | 'REFUSED'
  | 'INTEGRITY'
  | 'NO_SPACE'
  | 'NO_PERMISSION'
  | 'STOPPED'
  | 'FAILED';

/** A failure with a message for the operator, which names the remedy. The version that was installed still works. */
export class ProgramError extends Error {
  readonly code: ProgramErrorCode;

  constructor(code: ProgramErrorCode, message: string) {
    super(message);
    this.name = 'ProgramError';
    this.code = code;
  }
}
