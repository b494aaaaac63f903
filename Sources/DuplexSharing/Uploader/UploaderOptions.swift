// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

public import DuplexServer

/// What the uploader's page looks like and how it transfers files; see `uploader` of `RouteBuilder`.
///
/// Texts are plain: whatever is in them is shown as it is, and never becomes markup.
public struct UploaderOptions: Sendable {
    /// The title of the page, and what a browser's tab has.
    ///
    /// Default: `Files`.
    public var title = "Files"
    /// A line below the title.
    ///
    /// Default: none.
    public var header = ""
    /// A paragraph in front of the list.
    ///
    /// Default: none.
    public var prologue = ""
    /// A paragraph after the list.
    ///
    /// Default: none.
    public var epilogue = ""
    /// A line at the end of the page.
    ///
    /// Default: none.
    public var footer = ""
    /// The address of a picture beside the title, such as `/logo.svg`; an empty one for no picture.
    ///
    /// A relative one is below the page. The policy of the page allows pictures of its own origin only. Default: a folder.
    public var logo = "assets/icon.svg"
    /// The most bytes that the page sends of a file in one request.
    ///
    /// A proxy on the way has to take bodies of that size. Default: 8 MiB.
    public var pieceSize: ByteCount = .mebibytes(8)
    /// How many files the page sends at a time.
    ///
    /// Default: 3. Browsers have six connections to a server over HTTP/1.1, of which the events take one.
    package var parallelUploads = 3
    /// How uploads are taken that can be resumed.
    ///
    /// Default: as in `ResumableUploadOptions`.
    public var uploads = ResumableUploadOptions()
    /// Whether the files of a zip are deflated.
    ///
    /// Default: they are stored, which costs next to nothing.
    public var zips = ZipMethod.stored
    /// How many entries a search looks at.
    ///
    /// Default: 100,000. One that doesn't reach all of them says so.
    package var searchLimit = 100_000
    /// How many entries a search finds.
    ///
    /// Default: 1,000. One that would find more says so.
    package var resultLimit = 1_000
    /// The longest body of a request of the API, but for uploads.
    ///
    /// Default: 1 MiB, which is enough for the paths of thousands of files.
    package var requestSize: ByteCount = .mebibytes(1)

    /// Whether nothing may be changed by the page and its API but uploads that are resumed, whatever the folder allows: those
    /// are another handler's.
    package var isReadOnly = false

    /// Makes options.
    public init() {}
}
