"""folding-volume.py <backing folder> <mount point> [own-inodes]: a volume that takes names which differ only in case, or only in how Unicode composes
their letters, for one, and keeps the spelling under which a name was made. With own-inodes each spelling has an inode of its own. Stays in the foreground until it is unmounted."""
import errno
import os
import sys
import unicodedata

sys.path.append('/usr/lib/python3/dist-packages')
from fusepy import FUSE, FuseOSError, Operations


def fold(name):
    return unicodedata.normalize('NFC', name).casefold()


class Folding(Operations):
    def __init__(self, root):
        self.root = root

    def real(self, path):
        place = self.root
        for name in path.split('/'):
            if name == '':
                continue
            full = os.path.join(place, name)
            if not os.path.lexists(full) and os.path.isdir(place):
                names = [each for each in os.listdir(place) if fold(each) == fold(name)]
                full = os.path.join(place, names[0]) if names else full
            place = full
        return place

    def getattr(self, path, fh=None):
        stat = os.lstat(self.real(path))
        keys = ('st_atime', 'st_ctime', 'st_gid', 'st_mode', 'st_mtime', 'st_nlink', 'st_size', 'st_uid', 'st_ino')
        return {key: getattr(stat, key) for key in keys}

    def readdir(self, path, fh):
        return ['.', '..', *os.listdir(self.real(path))]

    def chmod(self, path, mode):
        return os.chmod(self.real(path), mode)

    def chown(self, path, uid, gid):
        return os.chown(self.real(path), uid, gid)

    def mkdir(self, path, mode):
        return os.mkdir(self.real(path), mode)

    def rmdir(self, path):
        return os.rmdir(self.real(path))

    def unlink(self, path):
        return os.unlink(self.real(path))

    def rename(self, old, new):
        # Like the systems that fold names: what stands there keeps its spelling, unless it is the thing itself that gets another.
        source, target = self.real(old), self.real(new)
        if source == target:
            target = os.path.join(os.path.dirname(target), os.path.basename(new))
        return os.rename(source, target)

    def link(self, target, source):
        if os.path.lexists(self.real(target)):
            raise FuseOSError(errno.EEXIST)
        return os.link(self.real(source), self.real(target), follow_symlinks=False)

    def symlink(self, name, target):
        return os.symlink(target, self.real(name))

    def readlink(self, path):
        return os.readlink(self.real(path))

    def open(self, path, flags):
        return os.open(self.real(path), flags)

    def create(self, path, mode, fi=None):
        if os.path.lexists(self.real(path)):
            raise FuseOSError(errno.EEXIST)
        return os.open(self.real(path), os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)

    def read(self, path, size, offset, fh):
        return os.pread(fh, size, offset)

    def write(self, path, data, offset, fh):
        return os.pwrite(fh, data, offset)

    def truncate(self, path, length, fh=None):
        with open(self.real(path), 'r+b') as file:
            file.truncate(length)

    def fsync(self, path, datasync, fh):
        return os.fsync(fh)

    def release(self, path, fh):
        return os.close(fh)

    def utimens(self, path, times=None):
        return os.utime(self.real(path), times, follow_symlinks=False)


FUSE(Folding(sys.argv[1]), sys.argv[2], foreground=True, nothreads=True, use_ino=len(sys.argv) < 4, attr_timeout=0, entry_timeout=0, negative_timeout=0)
