// SPDX-License-Identifier: Apache-2.0
// Which icon an entry has.

const sources = /\.(swift|[ch]|cc|cpp|hpp|mm?|rs|go|py|rb|[cm]?js|tsx?|java|kt|sh|json|ya?ml|toml|xml|html?|css|sql)$/i;
/** @type {[string, RegExp, RegExp][]} */
const kinds = [
    ["pdf", /^application\/pdf$/, /\.pdf$/i],
    ["archive", /zip|tar|compressed|gzip|7z|rar|bzip|xz$|zstd/, /\.(zip|tar|t?gz|tgz|bz2|xz|7z|rar|zst|br)$/i],
    ["table", /spreadsheet|ms-excel|csv/, /\.(csv|tsv|xlsx?|ods|numbers)$/i],
    ["code", /javascript|json|xml$|html|css|x-sh|x-python/, sources],
    ["image", /^image\//, /\.(png|jpe?g|gif|webp|avif|svg|bmp|heic|tiff?)$/i],
    ["audio", /^audio\//, /\.(mp3|m4a|aac|flac|ogg|opus|wav)$/i],
    ["video", /^video\//, /\.(mp4|m4v|mov|webm|mkv|avi)$/i],
    ["text", /^text\/|wordprocessing|msword|rtf/, /\.(txt|md|log|ini|conf|cfg|docx?|odt|rtf|tex|srt|vtt)$/i],
];

/** The icon of an entry: by its media type, or by its name where the type says nothing. */
export function kindOf({ kind, type, name }) {
    if (kind === "folder") return "folder";
    const isPlain = !type || type === "application/octet-stream";
    return kinds.find(([, types, names]) => (isPlain ? names.test(name) : types.test(type)))?.[0] ?? "file";
}
