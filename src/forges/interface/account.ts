/** An account at a forge. */
export interface ForgeAccount {
  readonly id: string;
  readonly login: string;
  readonly isBot: boolean;
}
