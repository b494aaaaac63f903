// SPDX-License-Identifier: Apache-2.0
// Copyright (c) the Duplex authors

#if os(Linux)
import DuplexTestProcesses
import DuplexTestTimes
import Foundation
import Testing

/// davfs2, where this system lets it mount.
@Suite(.timeLimit(minutes: 3)) struct MountTests {
    /// FUSE, and the right to mount: containers often have neither.
    ///
    /// In continuous integration the test fails without the program and the right; the device is the machine's matter.
    private static let canMount =
        (geteuid() == 0 || Integration.isOn) && Integration.has("mount.davfs")
        && FileManager.default.isWritableFile(atPath: "/dev/fuse")

    @Test(
        "A tree that is copied to a mounted folder is in the shared one",
        .enabled(if: canMount, "It takes FUSE, and root.")
    )
    func mounts() async throws {
        try await DAVShare.run { share async throws in
            try share.makeTree("tree", files: 100)
            let script = """
                mkdir mounted cache
                chmod 777 cache
                printf 'ask_auth 0\nuse_locks 1\ncache_dir %s\ndelay_upload 0\n' \"$PWD/cache\" > conf
                mount.davfs -o conf=\"$PWD/conf\" \(share.url) mounted
                trap 'umount mounted' EXIT
                cp -r tree mounted/tree
                mv mounted/tree mounted/moved
                # By their names: davfs2 can't list folders with the kernels of late (EINVAL of readdir).
                cd tree
                find . -type f > ../names
                while read -r name; do cmp "$name" "../mounted/moved/$name"; done < ../names
                cd ..
                """
            try await share.shell(script)
            #expect(try await share.difference("tree", share.root + "moved") == "")
        }
    }
}
#endif
