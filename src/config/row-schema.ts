/** A schema of zod, or of another library that follows the same standard (standardschema.dev). */
export interface RowSchema {
  readonly '~standard': {
    readonly validate: (value: unknown) => Validated | Promise<Validated>;
  };
}

type Validated =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[] };
