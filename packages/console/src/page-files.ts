/** A file of the page, compressed by the build (`page/build.mjs`). */
export interface PageFile {
  /** The path after that of the page: `''` for the page itself. */
  readonly path: string;
  /** The media type. */
  readonly type: string;
  /** A digest of the content, for the entity tag. */
  readonly digest: string;
  /** The content in Brotli, as base64. */
  readonly br: string;
  /** The content in gzip, as base64. */
  readonly gzip: string;
}

/** Every file of the page. `#page` is this module as the build writes it; the declaration gives it a type. */
export declare const PAGE_FILES: readonly PageFile[];
