"""Makes our images from distribution packages, bit for bit the same each time, without an engine.

::

    recipe.load_recipe(root, name)   -> Recipe          images/NAME/recipe.yaml, checked
    inputs.gather(recipe, root)      -> Inputs          every file that goes in, and the recipe digest
    rootfs.compile_program(inputs)   -> bytes           in a chroot with the suite's own compiler
    rootfs.make_rootfs(inputs)       -> a tar           mmdebstrap, packages only, no maintainer scripts
    layer.normalise(tar)             -> Layer           sorted, fixed times, nothing of the host
    archive.write_archive(layer)     -> Identity        what `docker load` reads; the image ID is known here
    build.obtain(inputs, cache)      -> Built           all of it, or the archive of an earlier build

The engine's side (load, find, tag) is ``runner.sandbox.backends.docker``; this package knows no engine.
"""
