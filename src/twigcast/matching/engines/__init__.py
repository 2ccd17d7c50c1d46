"""The engines that sit on libxml2 and on the kernel."""
