/** The words of a type or field: `WebhookEndpoint` is a webhook endpoint, and `apiKey` an API key. */
export function nounOf(name: string): { readonly singular: string; readonly plural: string } {
  const words = name
    .replaceAll(/(?=[A-Z])/g, ' ')
    .trim()
    .toLowerCase();
  const singular = words.replace(/^(?:api|acu)\b/, (word) => word.toUpperCase());
  return {
    singular,
    plural: singular.endsWith('y') && !/[aeo]y$/.test(singular) ? `${singular.slice(0, -1)}ies` : `${singular}s`,
  };
}

/** The text with its first letter in upper case. */
export const upperFirst = (text: string): string => `${text[0]?.toUpperCase()}${text.slice(1)}`;
