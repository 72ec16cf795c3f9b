/** What is wrong with a part of a form that is no one field. */
export function Problem({ text }: { readonly text: string }) {
  return (
    <p className="problem" role="alert">
      {text}
    </p>
  );
}
