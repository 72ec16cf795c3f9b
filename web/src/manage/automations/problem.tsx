/** An error of a part of a form that has no field of its own. */
export function Problem({ text }: { readonly text: string }) {
  return (
    <p className="problem" role="alert">
      {text}
    </p>
  );
}
